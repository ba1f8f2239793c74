import { type Message, message } from '../../base/message.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import { PROVIDER, RECEIVER } from '../../kube/flux-kinds.ts'
import type { Path } from '../../kube/node.ts'
import { readAddress } from '../../kube/source-address.ts'
import type { Rule, RuleContext, Subject, Violation } from '../model/rule.ts'
import { endpointsOf, secretValue } from './endpoints.ts'

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

/** A tenant's events are written only to the tenant's repositories. */
export const providerTargetRepo: Rule = {
  id: 'provider-target-repo',
  severity: 'high',
  title: "Provider for a repository that is not the tenant's",
  why: "A Provider writes commit statuses and comments, and starts workflows. In the fleet's or another tenant's repository, it can set the status of a required check. It can start a workflow with the platform's secrets.",
  source: 'notification-controller docs/spec/v1beta3/providers.md; policy-bot README, "Status Checks"',
  docs: "Name the tenant's own repository. A repository that also holds the fleet belongs to the platform: use another channel, or ask a fleet admin to declare the Provider. `spec.commitStatusExpr` must not produce the name of Bailiwick's check.",
  kinds: [PROVIDER],
  *checkTenantObject(subject, context) {
    const type = subject.text(['spec', 'type'])?.toLowerCase() ?? ''
    if (!GIT_TYPES.has(type)) return
    for (const { path, address } of endpointsOf(subject, context)) {
      const isProxy = path.includes('proxy') || path.includes('proxySecretRef')
      if (address === 'sealed' || isProxy) continue
      const target = readAddress(address.text, 'url')
      const users = typeof target === 'string' ? [] : usersOf(context, target.parts, target.text)
      const isForeign = users.includes('') || (users.length > 0 && !users.includes(subject.node.tenant))
      if (typeof target === 'string' || !isForeign) continue
      const whose = users.includes('') ? "the platform's" : "another tenant's"
      const what = message`writes to ${quoted('value', target.text)} (type ${quoted('value', type)}), which is ${whose}`
      yield violation(subject, path, target.text, what, message`Set spec.address to the tenant's own repository.`)
    }
    const expression = subject.text(EXPRESSION)
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

/** The users of a repository, also if the address leads below it. */
function usersOf({ index }: RuleContext, parts: readonly string[], text: string): string[] {
  const base = text.slice(0, text.length - parts.join('/').length)
  for (let length = parts.length; length >= 2; length--) {
    const users = index.usersOf(`${base}${parts.slice(0, length).join('/')}`)
    if (users.length > 0) return users
  }
  return []
}

function violation(subject: Subject, path: Violation['path'], value: string, what: Message, fix: Message): Violation {
  const problem = message`${subject.who} ${what}. Allowed: the tenant's own repository and other status names. Flux accepts it.`
  return subject.violation(path, value, { message: problem, fix })
}

const TYPE = ['spec', 'type']
const SECRET = ['spec', 'secretRef', 'name']

/** A webhook accepts only authenticated requests. */
export const receiverUnauthenticated: Rule = {
  id: 'receiver-unauthenticated',
  severity: 'medium',
  level: 'warning',
  title: 'Receiver without a signature check',
  why: 'A Receiver of type `generic` checks no signature: anyone who knows its address can trigger it. A Receiver without a token cannot check a signature.',
  source: 'CVE-2026-40109; notification-controller docs/spec/v1/receivers.md',
  docs: 'Set `spec.type` to the type of the sender (`github`, `gitlab`, ...) or to `generic-hmac`. Name the Secret with the token in `spec.secretRef`.',
  kinds: [RECEIVER],
  *checkTenantObject(subject, { index }) {
    const { id, node, who } = subject
    const type = subject.text(TYPE) ?? ''
    if (type.trim().toLowerCase() === 'generic') {
      const problem = message`${who} has type generic, which checks no signature: anyone who knows its address can trigger it. Allowed: types that check a signature.`
      yield subject.violation(TYPE, type, {
        message: problem,
        fix: message`Set spec.type to generic-hmac or to the type of the sender.`,
      })
    }
    const secret = subject.text(SECRET)?.trim()
    const token = secret ? secretValue(index, node, id.namespace, secret, 'token') : undefined
    if (token && token !== 'sealed') {
      const problem = message`${who} checks requests with the token of Secret ${quoted('object', secret!)}, which is plain text in git. Anyone who can read the repository can sign a request. Allowed: an encrypted token.`
      yield subject.violation(SECRET, 'readable token', {
        message: problem,
        fix: message`Replace the token and encrypt the Secret.`,
      })
    }
    if (!secret) {
      const problem = message`${who} (type ${quoted('value', type)}) names no Secret with a token, so it cannot check requests. Allowed: a Receiver with spec.secretRef.`
      yield subject.violation(['spec', 'secretRef'], 'none', {
        message: problem,
        fix: message`Set spec.secretRef.name to the Secret with the token.`,
      })
    }
  },
}

const FILTER = ['spec', 'resourceFilter']

/** A webhook triggers only named objects. */
export const receiverWildcard: Rule = {
  id: 'receiver-wildcard',
  severity: 'medium',
  level: 'warning',
  title: 'Receiver for all objects',
  why: 'One webhook request reconciles every object that the Receiver selects. A Receiver for all objects lets one request load the controllers that all tenants share.',
  source: 'fluxcd/flux2 discussion 263; notification-controller api/v1/receiver_types.go',
  docs: 'Name the objects, or select them with `name: "*"` and `matchLabels`. A `resourceFilter` must test a field of `res`.',
  kinds: [RECEIVER],
  *checkTenantObject(subject) {
    for (const path of subject.items(['spec', 'resources', '*'])) {
      const labels = subject.at([...path, 'matchLabels'])
      const selects = labels?.type === 'map' && labels.fields.size > 0
      if (subject.text([...path, 'name'])?.trim() !== '*' || selects) continue
      const kind = subject.text([...path, 'kind']) ?? 'object'
      yield wildcardViolation(
        subject,
        [...path, 'name'],
        `${kind} *`,
        message`triggers every ${quoted('object', kind)} of the namespace`,
      )
    }
    const filter = subject.text(FILTER)
    if (filter && isAlwaysTrue(filter))
      yield wildcardViolation(subject, FILTER, filter, message`has a resourceFilter that matches every object`)
  },
}

/** Whether a filter reads neither the object nor the request, or bypasses that in an alternative. */
function isAlwaysTrue(filter: string): boolean {
  const text = filter.replace(/\s+/g, ' ').trim()
  const asks = /(?<![\w.])(?:res|req|request|resource)\s*[.[]/.test(text)
  return !asks || /\|\| ?\(?true\b|\btrue\)? ?\|\|/.test(text)
}

function wildcardViolation(subject: Subject, path: Path, value: string, what: Message): Violation {
  const problem = message`${subject.who} ${what}.`
  return subject.violation(path, value, { message: problem, fix: message`Set name to the object, or set matchLabels.` })
}
