import { addressOf } from '../../../facts/source-fields.ts'
import type { Subject } from '../../../facts/subject.ts'
import type { SourceAddress } from '../../../kube/address/source-address.ts'
import { withValueAt } from '../../../kube/edit-node.ts'
import { at, itemsOf, type ScalarNode, stringAt } from '../../../kube/node.ts'
import type { Origin } from '../../../origin.ts'
import type { AdmissionFinding, PolicyRuleName } from '../../../policy/admission/admission-request.ts'
import { matchesWildcard } from '../../../policy/kyverno/jmespath/wildcard.ts'
import type { RuleContext } from '../../model/rule.ts'
import { scalarsOf } from '../../secrets/support/scalars-of.ts'
import { answerFor } from './admission-of.ts'

/**
 * How a finding of a policy relates to the address of a source. `address`: the policy refuses it in every spelling, which
 * `source-url-allowlist` reports. `spelling`: only as it is written, because policies compare texts. Undefined: the policy refuses
 * the source whatever its address is.
 */
export function addressAnswers(
  subject: Subject,
  context: RuleContext,
): (finding: AdmissionFinding) => 'address' | 'spelling' | undefined {
  const found = addressOf(subject.kind, subject.object)
  if (!found || typeof found.address === 'string') return () => undefined
  const { path, written, address } = found
  const { root } = subject.object
  const origin = at(root, path)?.origin ?? root.origin
  const refusedWith = (given: Pick<ScalarNode, 'value' | 'opaque'>): ReadonlySet<string> => {
    const object = {
      ...subject.object,
      root: withValueAt(root, path.map(String), { type: 'scalar', origin, ...given }),
    }
    return new Set(answerFor(subject, context, { object })?.findings.map(keyOf))
  }
  const withAny = refusedWith({ value: written, opaque: [] })
  const others = spellingsOf(written, address).map(value => refusedWith({ value }))
  return finding => {
    const key = keyOf(finding)
    if (withAny.has(key)) return undefined
    return others.every(refused => refused.has(key)) ? 'address' : 'spelling'
  }
}

const keyOf = ({ policy: { kind, namespace, name }, rule, check }: AdmissionFinding) =>
  JSON.stringify([kind, namespace, name, rule, check])

/** The other forms of an address that a policy may expect. */
function spellingsOf(written: string, { scheme, host, port, parts, text }: SourceAddress): string[] {
  const isGit = scheme === 'https' && parts.length > 0
  const ssh = isGit ? [`ssh://git@${host}${port && `:${port}`}/${parts.join('/')}`] : []
  return written.includes('://') ? [text, ...ssh] : [text.replace(/^\w+:\/\//, '')]
}

/** A pattern of a Kyverno rule that lets the address pass only because its `*` continues a name, as `acme*` lets `acme-evil`. */
export function openPattern(
  { object, kind, node: { cluster } }: Subject,
  { index }: RuleContext,
  { policy, rule }: PolicyRuleName,
): { readonly name: string; readonly origin: Origin } | undefined {
  const found = addressOf(kind, object)
  if (!found || typeof found.address === 'string') return undefined
  const spellings = [found.written, ...spellingsOf(found.written, found.address)]
  const isMatched = (pattern: string) => spellings.some(one => matchesWildcard(pattern, one))
  const isOpen = (pattern: string) =>
    /[A-Za-z0-9]\*+$/.test(pattern) && !['', '/*'].some(end => isMatched(pattern.replace(/\*+$/, end)))
  const written = index.platformObject(cluster, `kyverno.io/${policy.kind}`, policy.namespace, policy.name)
  const rules = itemsOf(written && at(written.root, ['spec', 'rules']))
  const validates = rules.filter(one => stringAt(one, ['name']) === rule).map(one => at(one, ['validate']))
  const matching = validates
    .flatMap(one => (one ? [...scalarsOf(one)] : []))
    .filter(({ path }) => !path.includes('message'))
    .flatMap(({ node: { value, origin } }) =>
      String(value)
        .split('|')
        .map(one => ({ name: one.trim(), origin })),
    )
    .filter(({ name }) => /[./]/.test(name) && isMatched(name))
  return matching.every(({ name }) => isOpen(name)) ? matching[0] : undefined
}
