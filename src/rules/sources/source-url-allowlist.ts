import { shown, shownObject } from '../../facts/shown.ts'
import { addressOf, formOf, sourceKinds } from '../../facts/source-fields.ts'
import type { Subject } from '../../facts/subject.ts'
import { allowedSourcesOf, allowsSource } from '../../fleet/config/allowed-sources.ts'
import { EXTERNAL_ARTIFACT } from '../../flux/kinds.ts'
import type { AddressForm, SourceAddress } from '../../kube/address/source-address.ts'
import { at, type Path } from '../../kube/node.ts'
import { matchesAddress } from '../../policy/address-pattern.ts'
import { admissionRefusals } from '../../policy/admission-policies.ts'
import { refusesByCel } from '../../policy/cel/refuses-by-cel.ts'
import { isAddressDenied } from '../../policy/denied-address.ts'
import { type KyvernoRule, policyRulesFor } from '../../policy/kyverno-rules.ts'
import { matchesWildcard } from '../../policy/wildcard.ts'
import type { Breach, Rule, RuleContext } from '../model/rule.ts'

/** Where the fleet says which sources are allowed, others are not. */
export const sourceUrlAllowlist: Rule = {
  id: 'source-url-allowlist',
  severity: 'high',
  title: 'Source address outside the allowed list',
  why: "A source of an unknown owner deploys that owner's content as the tenant's account. An allowlist for one source kind, one API version or one spelling of an address leaves the others open.",
  source: 'kyverno/policies flux/verify-flux-sources; fluxcd/flux2-multi-tenancy infrastructure/kyverno-policies',
  docs: "Use an address in `allowedSources` of .github/bailiwick.yaml (for all tenants or one), or one that the fleet's policy on `spec.url`, `spec.endpoint` or `spec.image` allows. Without a list or policy, every address is allowed. Supported policies are Kyverno policies with `validate.pattern`, `anyPattern` or `deny`, ValidatingPolicies, and ValidatingAdmissionPolicies with a binding. An enforced policy makes violations, an audited one warnings. Addresses are compared segment by segment after normalization (https, ssh and scp forms, `.git`, the case of the host and of github.com): `https://github.com/acme*` does not match `acme-evil`. Other parts of a policy, and CEL beyond text comparison, are not evaluated.",
  kinds: [...sourceKinds, EXTERNAL_ARTIFACT],
  *checkObject(subject, context) {
    const found = addressOf(subject.kind, subject.object)
    if (subject.kind === EXTERNAL_ARTIFACT) yield* judgeArtifact(subject, context)
    if (!found || typeof found.address === 'string') return
    const { path, address } = found
    const tenant = context.index.actsFor(subject.node, subject.object)
    if (tenant !== undefined && !allowsSource(context.config, tenant, address.text)) {
      const allowed = allowedSourcesOf(context.config, tenant).map(list => list.map(shown).join(', ') || 'nothing')
      yield breach(
        subject,
        path,
        address,
        `which the fleet does not allow. Allowed: ${allowed.join('; among these ')}.`,
        addressesIn(allowedSourcesOf(context.config, tenant), address),
      )
    }
    const [field, spellings] = [`object.${path.join('.')}`, spellingsOf(found.written, address)]
    for (const rule of policyRulesFor(context.index, subject)) {
      const matches = (pattern: string) => matchesPolicy(pattern, found.written, address, formOf(subject.kind))
      const isDenied = isAddressDenied(rule, subject.object, { path, address, matches })
      if (isDenied || isDeniedByCel(rule, subject, context, field, spellings))
        yield denied(subject, path, address, rule)
    }
    for (const refusal of admissionRefusals(context.index, subject, field, spellings)) {
      yield denied(subject, path, address, { ...refusal, name: '' })
    }
  },
}

/** `validate.cel` of Kyverno. */
function isDeniedByCel(
  { validate }: KyvernoRule,
  subject: Subject,
  { index }: RuleContext,
  field: string,
  spellings: readonly string[],
): boolean {
  const list = (key: string) => {
    const found = at(validate, ['cel', key])
    return found?.type === 'list' ? found.items : []
  }
  const rules = { variables: list('variables'), validations: list('expressions') }
  if (rules.validations.length === 0) return false
  return spellings.every(address => refusesByCel(index, subject, { field, address, params: undefined }, rules))
}

/** In the one spelling where the pattern is an address, else as Kyverno itself compares. */
function matchesPolicy(pattern: string, written: string, address: SourceAddress, form: AddressForm): boolean {
  return matchesAddress(pattern, address, form) ?? matchesWildcard(pattern, written)
}

/** The one list of plain addresses, where there is one; a pattern is no value. */
function addressesIn(lists: readonly (readonly string[])[], { scheme }: SourceAddress): readonly string[] {
  const [list = []] = lists
  const isPlain = list.every(address => address.startsWith(`${scheme}://`) && !/[*?]/.test(address))
  return lists.length === 1 && isPlain ? list : []
}

function breach(
  { object, id, node }: Subject,
  path: Path,
  address: SourceAddress,
  why: string,
  allowed: readonly string[],
): Breach {
  return {
    node,
    object,
    path,
    value: address.text,
    message: `${shownObject(id.kind, id.namespace, id.name)} follows ${shown(address.text)}, ${why} Flux accepts it.`,
    fix: 'Set the address to an allowed one, or ask a fleet admin to allow this one.',
    allowed,
  }
}

/** The forms of an address that a policy may have in mind. */
function spellingsOf(written: string, { scheme, host, port, parts, text }: SourceAddress): string[] {
  const isGit = scheme === 'https' && parts.length > 0
  const ssh = isGit ? [`ssh://git@${host}${port && `:${port}`}/${parts.join('/')}`] : []
  return [...new Set([written, ...(written.includes('://') ? [text, ...ssh] : [text.replace(/^\w+:\/\//, '')])])]
}

function denied(
  subject: Subject,
  path: Path,
  address: SourceAddress,
  rule: Pick<KyvernoRule, 'policy' | 'name' | 'message' | 'enforces'>,
): Breach {
  const { object, id, node } = subject
  const policy = shownObject(rule.policy.kind, rule.policy.namespace, rule.policy.name)
  const said = rule.message ? `: ${shown(rule.message)}` : ''
  const by = rule.policy.kind === 'ValidatingAdmissionPolicy' ? 'Kubernetes' : 'Kyverno'
  const effect = rule.enforces ? `${by} would reject the object` : `${by} would report it`
  const what = rule.name === '' ? policy : `the rule ${shown(rule.name)} of ${policy}`
  return {
    node,
    object,
    path,
    value: `${address.text} ${rule.policy.name}/${rule.name}`,
    message: `${shownObject(id.kind, id.namespace, id.name)} follows ${shown(address.text)}, which ${what} does not allow. ${effect}${said}.`,
    fix: `Set the address to one that ${policy} allows.`,
    ...(rule.enforces ? {} : { level: 'warning' }),
  }
}

/** Nobody can tell from where the content of an artifact comes that a tenant declares itself. */
function* judgeArtifact({ object, id, node }: Subject, { config }: RuleContext): Iterable<Breach> {
  if (node.tenant === undefined || allowedSourcesOf(config, node.tenant).length === 0) return
  yield {
    node,
    object,
    path: ['spec', 'sourceRef'],
    value: 'ExternalArtifact',
    message: `${shownObject(id.kind, id.namespace, id.name)} has no address, but the fleet allows only listed addresses. Allowed: sources with an address. Anyone who can write its status controls its content.`,
    fix: 'Replace it with a GitRepository, OCIRepository or Bucket with an allowed address.',
  }
}
