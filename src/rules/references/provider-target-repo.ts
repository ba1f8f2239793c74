import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { PROVIDER } from '../../flux/kinds.ts'
import { readAddress } from '../../kube/address/source-address.ts'
import { stringAt } from '../../kube/node.ts'
import { type Message, message } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { endpointsOf } from './support/endpoints.ts'

/** Types of a Provider that write to a repository (notification-controller, docs/spec/v1beta3/providers.md). */
const GIT_TYPES = new Set([
  'github',
  'githubdispatch',
  'githubpullrequestcomment',
  'gitlab',
  'gitlabmergerequestcomment',
  'gitea',
  'giteapullrequestcomment',
  'bitbucket',
  'bitbucketserver',
  'azuredevops',
])
const EXPRESSION = ['spec', 'commitStatusExpr']

/** A tenant's events are written only to repositories of the tenant's. */
export const providerTargetRepo: Rule = {
  id: 'provider-target-repo',
  severity: 'high',
  title: "Provider for a repository that is not the tenant's",
  why: "A Provider writes commit statuses and comments, and starts workflows. In the fleet's or another tenant's repository, it can set the status of a required check. It can start a workflow with the platform's secrets.",
  source: 'notification-controller docs/spec/v1beta3/providers.md; policy-bot README, "Status Checks"',
  docs: "Name the tenant's own repository. A repository that also holds the fleet belongs to the platform: use another channel, or ask a fleet admin to declare the Provider. `spec.commitStatusExpr` must not produce the name of Bailiwick's check.",
  kinds: [PROVIDER],
  *checkTenantObject(subject, context) {
    const { object, node } = subject
    const type = stringAt(object.root, ['spec', 'type'])?.toLowerCase() ?? ''
    if (!GIT_TYPES.has(type)) return
    for (const { path, address } of endpointsOf(subject, context)) {
      const isProxy = path.includes('proxy') || path.includes('proxySecretRef')
      if (address === 'sealed' || isProxy) continue
      const target = readAddress(address.text, 'url')
      const users = typeof target === 'string' ? [] : usersOf(context, target.parts, target.text)
      const isForeign = users.includes('') || (users.length > 0 && !users.includes(node.tenant))
      if (typeof target === 'string' || !isForeign) continue
      const whose = users.includes('') ? "the platform's" : "another tenant's"
      const what = message`writes to ${quoted('value', target.text)} (type ${quoted('value', type)}), which is ${whose}`
      yield violation(subject, path, target.text, what, message`Set spec.address to the tenant's own repository.`)
    }
    const expression = stringAt(object.root, EXPRESSION)
    if (expression && /bailiwick/i.test(expression)) {
      yield violation(
        subject,
        EXPRESSION,
        'bailiwick',
        message`sets a commit status with the name of Bailiwick's check`,
        message`Rename the status.`,
      )
    }
  },
}

/** Whose the repository is, also where the address leads below it. */
function usersOf({ index }: RuleContext, parts: readonly string[], text: string): string[] {
  const base = text.slice(0, text.length - parts.join('/').length)
  for (let length = parts.length; length >= 2; length--) {
    const users = index.usersOf(`${base}${parts.slice(0, length).join('/')}`)
    if (users.length > 0) return users
  }
  return []
}

function violation(
  { object, id, node }: Subject,
  path: Violation['path'],
  value: string,
  what: Message,
  fix: Message,
): Violation {
  const problem = message`${objectPart(id.kind, id.namespace, id.name)} ${what}. Allowed: the tenant's own repository and other status names. Flux accepts it.`
  return { node, object, path, value, message: problem, fix }
}
