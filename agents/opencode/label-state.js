// label-state for opencode: hands the session's events to "label-state agent event opencode".
// Without the program on the search path nothing happens.
import { spawn } from "node:child_process"

const ask = (event) =>
  new Promise((done) => {
    let out = ""
    const last = event.hook_event_name === "SessionEnd" // which opencode does not wait for
    const child = spawn("label-state", ["agent", "event", "opencode"], { stdio: ["pipe", "pipe", "ignore"], detached: last })
    const stop = last ? undefined : setTimeout(() => child.kill(), 10000)
    const end = () => {
      clearTimeout(stop)
      try {
        done(JSON.parse(out || "{}"))
      } catch {
        done({})
      }
    }
    child.on("error", () => { out = ""; end() })
    child.on("close", end)
    child.stdin.on("error", () => {})
    child.stdout.on("data", (text) => { out += text })
    child.stdin.end(JSON.stringify(event))
  })

export const LabelState = async ({ directory }) => {
  const parents = new Map()
  const told = new Map()
  const given = new Map() // arguments of the calls that are under way
  const root = (id) => {
    for (let n = 0; n < 20 && parents.get(id); n++) id = parents.get(id)
    return id
  }
  const seen = new Set()
  const event = (name, id, more) => {
    seen.add(root(id))
    return { hook_event_name: name, session_id: root(id), cwd: directory, ...more }
  }
  return {
    event: async ({ event: e }) => {
      const info = e.properties?.info
      if (e.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID)
      if (e.type === "session.idle" && e.properties?.sessionID) await ask(event("Stop", e.properties.sessionID))
      if (e.type === "session.deleted" && info && !info.parentID) {
        await ask(event("SessionEnd", info.id))
        seen.delete(info.id)
      }
    },
    dispose: async () => {
      await Promise.all([...seen].map((id) => ask(event("SessionEnd", id))))
    },
    "tool.execute.before": async (input, output) => {
      const answer = await ask(event("PreToolUse", input.sessionID, { tool_name: input.tool, tool_input: output.args }))
      if (answer.deny) throw new Error(answer.deny)
      given.set(input.callID, output.args)
    },
    "tool.execute.after": async (input, output) => {
      const args = given.get(input.callID)
      given.delete(input.callID)
      const answer = await ask(event("PostToolUse", input.sessionID, { tool_name: input.tool, tool_input: args }))
      if (answer.context && typeof output.output === "string") output.output += "\n\n" + answer.context
    },
    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.LABEL_STATE_SESSION = "opencode:" + root(input.sessionID)
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input.sessionID
      if (!id) return
      if (!told.has(root(id))) told.set(root(id), (await ask(event("SessionStart", id))).context || "")
      if (told.get(root(id))) output.system.push(told.get(root(id)))
    },
  }
}
