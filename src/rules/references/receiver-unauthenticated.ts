import { objectPart, quoted } from '../../facts/shown.ts'
import { RECEIVER } from '../../flux/kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'
import { secretValue } from './support/named-secret.ts'

const TYPE = ['spec', 'type']
const SECRET = ['spec', 'secretRef', 'name']

/** A webhook believes only those who can prove who they are. */
export const receiverUnauthenticated: Rule = {
  id: 'receiver-unauthenticated',
  severity: 'medium',
  level: 'warning',
  title: 'Receiver without a signature check',
  why: 'A Receiver of type `generic` checks no signature: anyone who knows its address can trigger it. A Receiver without a token cannot check a signature.',
  source: 'CVE-2026-40109; notification-controller docs/spec/v1/receivers.md',
  docs: 'Set `spec.type` to the type of the sender (`github`, `gitlab`, ...) or to `generic-hmac`. Name the Secret with the token in `spec.secretRef`.',
  kinds: [RECEIVER],
  *checkTenantObject({ object, id, node }, { index }) {
    const type = stringAt(object.root, TYPE) ?? ''
    const who = objectPart(id.kind, id.namespace, id.name)
    if (type.trim().toLowerCase() === 'generic') {
      const problem = message`${who} has type generic, which checks no signature: anyone who knows its address can trigger it. Allowed: types that check a signature.`
      yield {
        node,
        object,
        path: TYPE,
        value: type,
        message: problem,
        fix: message`Set spec.type to generic-hmac or to the type of the sender.`,
      }
    }
    const secret = stringAt(object.root, SECRET)?.trim()
    const token = secret ? secretValue(index, node, id.namespace, secret, 'token') : undefined
    if (token && token !== 'sealed') {
      const problem = message`${who} checks requests with the token of Secret ${quoted('object', secret!)}, which is plain text in git: anyone who can read the repository can sign a request. Allowed: an encrypted token.`
      yield {
        node,
        object,
        path: SECRET,
        value: 'readable token',
        message: problem,
        fix: message`Replace the token and encrypt the Secret.`,
      }
    }
    if (!secret) {
      const problem = message`${who} (type ${quoted('value', type)}) names no Secret with a token, so it cannot check requests. Allowed: a Receiver with spec.secretRef.`
      yield {
        node,
        object,
        path: ['spec', 'secretRef'],
        value: 'none',
        message: problem,
        fix: message`Set spec.secretRef.name to the Secret with the token.`,
      }
    }
  },
}
