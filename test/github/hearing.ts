import { acme, hookReceiver } from '../../tools/github/acme.ts'
import { description } from '../../tools/github/http/description.ts'
import type { GitHubOptions } from '../../tools/github/start.ts'

/** acme with an app that hears every event that GitHub has. */
export async function hearing(options: GitHubOptions = {}) {
  const hook = await hookReceiver()
  const app = { events: EVENTS, webhookSecret: 'shh', ...options.app, webhookUrl: hook.url }
  const env = await acme({ ...options, app })

  /** All that was heard, each payload with its name ('push', 'issues.opened'). */
  async function heard() {
    await env.github.idle()
    return hook.heard.map(({ headers, body }) => {
      const payload = JSON.parse(body)
      const event = String(headers['x-github-event'])
      return { name: payload.action ? `${event}.${payload.action}` : event, payload, headers, body }
    })
  }

  return {
    ...env,
    hook,
    receiver: hookReceiver,
    heard,
    names: async () => (await heard()).map(each => each.name),
    last: async (name: string) => {
      const found = (await heard()).findLast(each => each.name === name)
      if (!found) throw new Error(`no ${name} was heard`)
      return found.payload
    },
    /** What was heard so far is forgotten. */
    hush: async () => {
      await env.github.idle()
      hook.heard.splice(0)
    },
    /** What is not in a payload as GitHub describes it, or is there and is not described. */
    faults: async () => (await heard()).flatMap(({ name, payload }) => faultsOf(name, payload)),
    close: async () => {
      await env.github.close()
      await hook.close()
    },
  }
}

function faultsOf(name: string, payload: unknown): string[] {
  const key = name.replaceAll(/[._]/g, '-')
  const schema = description().webhookSchema(key)
  if (!schema) return [`${name}: GitHub has no such event`]
  return description()
    .check(`webhook ${key}`, schema, payload)
    .map(problem => `${name}: ${problem}`)
}

const EVENTS = [
  ...['branch_protection_rule', 'check_run', 'check_suite', 'installation_target', 'issue_comment', 'issues', 'label'],
  ...['member', 'membership', 'merge_group', 'organization', 'public', 'pull_request', 'pull_request_review'],
  ...['pull_request_review_comment', 'pull_request_review_thread', 'push', 'repository', 'repository_ruleset'],
  ...['team', 'team_add'],
]
