import { objectPart, quoted, shown } from '../../facts/shown.ts'
import { addressOf, sourceKinds } from '../../facts/source-fields.ts'
import type { Subject } from '../../facts/subject.ts'
import { allowedSourcesOf, allowsSource } from '../../fleet/config/allowed-sources.ts'
import { EXTERNAL_ARTIFACT } from '../../flux/kinds.ts'
import type { SourceAddress } from '../../kube/address/source-address.ts'
import type { Path } from '../../kube/node.ts'
import { message, part, untyped } from '../../message/message.ts'
import type { AdmissionFinding, PolicyRuleName } from '../../policy/admission/admission-request.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { addressAnswers, openPattern } from '../policies/support/address-answers.ts'
import { answerFor } from '../policies/support/admission-of.ts'
import { findingPolicy } from '../policies/support/finding-policy.ts'

/** Where the fleet says which sources are allowed, others are not. */
export const sourceUrlAllowlist: Rule = {
  id: 'source-url-allowlist',
  severity: 'high',
  title: 'Source address outside the allowed list',
  why: "A source of an unknown owner deploys that owner's content as the tenant's account. An allowlist for one source kind, one API version or one spelling of an address leaves the others open.",
  source: 'kyverno/policies flux/verify-flux-sources; fluxcd/flux2-multi-tenancy infrastructure/kyverno-policies',
  docs: "Use an address in `allowedSources` of .github/bailiwick.yaml (for all tenants or one), or one that the fleet's policy on `spec.url`, `spec.endpoint` or `spec.image` allows. Without a list or policy, every address is allowed. The policies are evaluated once for each spelling of the address (https, ssh, `.git`, case). What they refuse in every spelling is a violation here, or a warning where they warn or audit. `policy-denied` has the rest. A pattern `https://github.com/acme*` of a Kyverno policy also allows `acme-evil`, which is a warning. In `allowedSources`, it does not.",
  kinds: [...sourceKinds, EXTERNAL_ARTIFACT],
  *checkObject(subject, context) {
    const found = addressOf(subject.kind, subject.object)
    if (subject.kind === EXTERNAL_ARTIFACT) yield* evaluateArtifact(subject, context)
    if (!found || typeof found.address === 'string') return
    const { path, address } = found
    const tenant = context.index.actsFor(subject.node, subject.object)
    if (tenant !== undefined && !allowsSource(context.config, tenant, address.text)) {
      const allowed = allowedSourcesOf(context.config, tenant).map(list => list.map(shown).join(', ') || 'nothing')
      yield violation(
        subject,
        path,
        address,
        `which the fleet does not allow. Allowed: ${allowed.join('; among these ')}.`,
        addressesIn(allowedSourcesOf(context.config, tenant), address),
      )
    }
    yield* answersOfPolicies(subject, path, address, context)
  },
}

/** The one list of plain addresses, where there is one; a pattern is no value. */
function addressesIn(lists: readonly (readonly string[])[], { scheme }: SourceAddress): readonly string[] {
  const [list = []] = lists
  const isPlain = list.every(address => address.startsWith(`${scheme}://`) && !/[*?]/.test(address))
  return lists.length === 1 && isPlain ? list : []
}

function violation(
  { object, id, node }: Subject,
  path: Path,
  address: SourceAddress,
  why: string,
  allowed: readonly string[],
): Violation {
  return {
    node,
    object,
    path,
    value: address.text,
    message: message`${objectPart(id.kind, id.namespace, id.name)} follows ${quoted('repository', address.text)}, ${untyped(why)} Flux accepts it.`,
    fix: message`Set the address to an allowed one, or ask a fleet admin to allow this one.`,
    allowed,
  }
}

/** What policies refuse in every spelling, and what they let pass by the open end of a name. */
function* answersOfPolicies(
  subject: Subject,
  path: Path,
  address: SourceAddress,
  context: RuleContext,
): Iterable<Violation> {
  const passed: PolicyRuleName[] = []
  const answer = answerFor(subject, context, { passed: rule => passed.push(rule) })
  if (!answer) return
  const answerOf = answer.findings.length > 0 ? addressAnswers(subject, context) : () => undefined
  for (const one of answer.findings) {
    if (answerOf(one) === 'address') yield denied(subject, path, address, one, answer.isUnchanged)
  }
  for (const rule of passed) {
    const pattern = openPattern(subject, context, rule)
    if (pattern) yield openlyAllowed(subject, path, address, rule, pattern)
  }
}

function openlyAllowed(
  { object, id, node }: Subject,
  path: Path,
  address: SourceAddress,
  { policy: { kind, namespace, name }, rule }: PolicyRuleName,
  { name: pattern, origin }: NonNullable<ReturnType<typeof openPattern>>,
): Violation {
  const policy = objectPart(kind, namespace, name)
  return {
    node,
    object,
    path,
    value: `${address.text} ${name}/${rule} ${pattern}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} follows ${quoted('repository', address.text)}. ${policy} allows it only because its pattern ${quoted('value', pattern)} also matches longer names, which can belong to other owners.`,
    fix: message`Set the address to one of the intended owner, or write ${quoted('value', pattern.replace(/\*+$/, '/*'))} in the policy at ${part('path', `${origin.file}:${origin.line}`)}.`,
    level: 'warning',
  }
}

function denied(
  { object, id, node }: Subject,
  path: Path,
  address: SourceAddress,
  finding: AdmissionFinding,
  isSame: boolean,
): Violation {
  const { kind, namespace, name } = finding.policy
  const policy = objectPart(kind, namespace, name)
  const detail = finding.message ? message`: ${quoted('value', finding.message)}` : ''
  const denies = finding.action === 'deny'
  const by = part('value', finding.by)
  const effect = denies ? message`${by} would reject the object` : message`${by} would report it`
  const what = finding.rule === '' ? policy : message`the rule ${quoted('object', finding.rule)} of ${policy}`
  return {
    node,
    object,
    path,
    value: `${address.text} ${name}/${finding.rule}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} follows ${quoted('repository', address.text)}, which ${what} does not allow. ${effect}${detail}.`,
    fix: message`Set the address to one that ${policy} allows.`,
    ...(denies ? {} : { level: 'warning' }),
    policy: findingPolicy(finding, finding.action, isSame),
  }
}

/** Nobody can tell from where the content of an artifact comes that a tenant declares itself. */
function* evaluateArtifact({ object, id, node }: Subject, { config }: RuleContext): Iterable<Violation> {
  if (node.tenant === undefined || allowedSourcesOf(config, node.tenant).length === 0) return
  yield {
    node,
    object,
    path: ['spec', 'sourceRef'],
    value: 'ExternalArtifact',
    message: message`${objectPart(id.kind, id.namespace, id.name)} has no address, but the fleet allows only listed addresses. Allowed: sources with an address. Anyone who can write its status controls its content.`,
    fix: message`Replace it with a GitRepository, OCIRepository or Bucket with an allowed address.`,
  }
}
