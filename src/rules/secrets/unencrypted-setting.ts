import { objectPart, quoted } from '../../facts/shown.ts'
import { idOf } from '../../kube/object.ts'
import { andMore } from '../../message/and-more.ts'
import { listed, message, untyped } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'
import { isRefused } from './support/misplaced-values.ts'
import { embeddedSecrets, glanceAt, isDocumentation } from './support/plain-credentials.ts'
import { type OpenValue, openValues } from './support/secret-values.ts'
import { isSealed } from './support/sops.ts'

/** The verdict lists what it says apart from warnings (see Verdict.notEvaluated). */
export const UNENCRYPTED_SETTING = 'unencrypted-setting'

const MAX_NAMES = 10

/** What plaintext-secret lets pass is on a list: a key and a form are no proof. */
export const unencryptedSetting: Rule = {
  id: UNENCRYPTED_SETTING,
  severity: 'low',
  level: 'warning',
  title: 'Unencrypted setting in a Secret',
  why: 'A host, a user name, a placeholder or a public key in a Secret is not secret. It does not block. Bailiwick cannot verify that the value is not sensitive.',
  docs: 'No action is required if the value is not sensitive. It is listed under `notEvaluated` in the JSON and never blocks. Otherwise move settings to a ConfigMap or encrypt the whole Secret. To require encryption of every value, give the rule a severity under `severities` in .github/bailiwick.yaml: the finding is then a violation.',
  kinds: 'every',
  *checkObject(subject) {
    const { object, kind, node } = subject
    const values = [...openIn(object, kind)].filter(
      ({ path, harmless }) => harmless !== undefined && !isRefused(subject, path),
    )
    if (values.length === 0) return
    const { kind: name, namespace, name: called } = idOf(object)
    const shownOnes = values
      .slice(0, MAX_NAMES)
      .map(({ path, harmless }) => message`${quoted('field', String(path.at(-1)))} (${untyped(harmless ?? '')})`)
    const more = andMore(values.length - MAX_NAMES)
    yield {
      node,
      object,
      path: values[0]!.path.slice(0, -1),
      value: 'settings',
      message: message`${objectPart(name, namespace, called)}: ${values.length === 1 ? '1 value is' : message`${values.length} values are`} not encrypted and not considered a secret: ${listed(shownOnes)}${untyped(more)}.`,
      fix: message`Encrypt the Secret with SOPS if one of the values is a secret.`,
    }
  },
}

type Subject = Parameters<NonNullable<Rule['checkObject']>>[0]

function openIn(object: Subject['object'], kind: string): Iterable<OpenValue> {
  if (kind === '/Secret') return openValues(object.root, isSealed(object))
  return !isDocumentation(object) && glanceAt(object.root).secret ? embeddedSecrets(object) : []
}
