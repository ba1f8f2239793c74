import type { AdmissionFinding, PolicyRuleName } from '../../admission/admission/admission-request.ts'
import { listed, message, part, untyped } from '../../base/message.ts'
import { allowedSourcesOf, allowsSource, matchesSource, memberSettings } from '../../fleet/config/declared-settings.ts'
import { objectPart, quoted, shown } from '../../fleet/facts/shown.ts'
import { addressOf, noPort, sourceKinds } from '../../fleet/facts/sources.ts'
import type { FleetConfig } from '../../fleet/model/fleet-config.ts'
import { ANOTHER_REPOSITORY } from '../../fleet/model/input.ts'
import { EXTERNAL_ARTIFACT } from '../../kube/flux-kinds.ts'
import { internalHost } from '../../kube/internal-host.ts'
import type { Path } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import type { SourceAddress } from '../../kube/source-address.ts'
import { scalarsOf } from '../model/object-values.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'
import { answerFor, findingPolicy } from '../policies/admission.ts'
import { addressAnswers, openPattern } from '../policies/policy-denied.ts'

/** Where the fleet lists allowed sources, others are refused. */
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

/** The only list of plain addresses, if there is one; a pattern is not a value. */
function addressesIn(lists: readonly (readonly string[])[], { scheme }: SourceAddress): readonly string[] {
  const [list = []] = lists
  const isPlain = list.every(address => address.startsWith(`${scheme}://`) && !/[*?]/.test(address))
  return lists.length === 1 && isPlain ? list : []
}

function violation(
  subject: Subject,
  path: Path,
  address: SourceAddress,
  why: string,
  allowed: readonly string[],
): Violation {
  return subject.violation(path, address.text, {
    message: message`${subject.who} follows ${quoted('repository', address.text)}, ${untyped(why)} Flux accepts it.`,
    fix: message`Set the address to an allowed one, or ask a fleet admin to allow this one.`,
    allowed,
  })
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
  subject: Subject,
  path: Path,
  address: SourceAddress,
  { policy: { kind, namespace, name }, rule }: PolicyRuleName,
  { name: pattern, origin }: NonNullable<ReturnType<typeof openPattern>>,
): Violation {
  const policy = objectPart(kind, namespace, name)
  return subject.violation(path, `${address.text} ${name}/${rule} ${pattern}`, {
    message: message`${subject.who} follows ${quoted('repository', address.text)}. ${policy} allows it only because its pattern ${quoted('value', pattern)} also matches longer names, which can belong to other owners.`,
    fix: message`Set the address to one of the intended owner, or write ${quoted('value', pattern.replace(/\*+$/, '/*'))} in the policy at ${part('path', `${origin.file}:${origin.line}`)}.`,
    level: 'warning',
  })
}

function denied(
  subject: Subject,
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
  return subject.violation(path, `${address.text} ${name}/${finding.rule}`, {
    message: message`${subject.who} follows ${quoted('repository', address.text)}, which ${what} does not allow. ${effect}${detail}.`,
    fix: message`Set the address to one that ${policy} allows.`,
    ...(denies ? {} : { level: 'warning' }),
    policy: findingPolicy(finding, finding.action, isSame),
  })
}

/** The origin of the content is unknown for an artifact that a tenant declares itself. */
function* evaluateArtifact(subject: Subject, { config }: RuleContext): Iterable<Violation> {
  if (subject.node.tenant === undefined || allowedSourcesOf(config, subject.node.tenant).length === 0) return
  yield subject.violation(['spec', 'sourceRef'], 'ExternalArtifact', {
    message: message`${subject.who} has no address, but the fleet allows only listed addresses. Allowed: sources with an address. Anyone who can write its status controls its content.`,
    fix: message`Replace it with a GitRepository, OCIRepository or Bucket with an allowed address.`,
  })
}

const POLICIES = ['kyverno.io/ClusterPolicy', 'kyverno.io/Policy']

/** A source's address has one meaning for every reader. */
export const sourceUrlMalformed: Rule = {
  id: 'source-url-malformed',
  severity: 'high',
  title: 'Malformed source address',
  why: 'Programs disagree about a user before the host, dot segments, encoded slashes, backslashes and empty path segments. An address that matches an allowlist can then lead to another repository.',
  source: 'RFC 3986, sections 3.2.1 and 6.2.2; kyverno/policies flux/verify-git-repositories',
  docs: 'Write `https://<host>/<path>`, `ssh://git@<host>/<path>` or `oci://<host>/<path>` in ASCII, without a user or password (use `spec.secretRef`), `..`, `%2f`, `//` or a query. The scp form behind `ssh://` (`ssh://git@<host>:<path>`) is not an address for Flux; a pattern of a Kyverno policy in this form is a warning.',
  kinds: [...sourceKinds, ...POLICIES],
  *checkObject(subject, { index }) {
    const { object, id, kind, node } = subject
    if (POLICIES.includes(kind)) yield* hopelessPatterns(subject)
    const found = addressOf(kind, object)
    if (!found || typeof found.address !== 'string') return
    // what Flux cannot read at all is wrong wherever it stands
    if (index.actsFor(node, object) === undefined && !noPort(found.written)) return
    const what = withoutUser(found.written)
    yield subject.violation(found.path, what, {
      message: message`${objectPart(id.kind, id.namespace, idOf(object).name)} follows ${quoted('repository', what)}. The address ${untyped(found.address)}. Allowed: a plain https, ssh or oci address. git or an HTTP client can interpret it as another address.`,
      fix: message`Replace it with the plain address of the repository.`,
    })
  },
}

/** Patterns of a policy that match no address which Flux can read: what is written to allow a source refuses it. */
function* hopelessPatterns(subject: Subject): Iterable<Violation> {
  for (const { path, node: scalar } of scalarsOf(subject.object.root)) {
    const patterns = String(scalar.value)
      .split('|')
      .map(one => one.trim())
    const pattern = path.at(-1) === 'url' ? patterns.find(noPort) : undefined
    if (pattern === undefined) continue
    yield subject.violation(path, pattern, {
      message: message`${subject.who} has the pattern ${quoted('value', pattern)}, which can never match. An address of this form ${untyped(noPort(pattern)!)}. Allowed: \`ssh://git@<host>/<path>\`.`,
      fix: message`Write a slash behind the host.`,
      level: 'warning',
    })
  }
}

/** What stands before the last @ of the authority may be a password. */
function withoutUser(written: string): string {
  const start = written.indexOf('://') + 3
  const end = written.slice(start).search(/[/?#]/)
  const mark = written.slice(0, end < 0 ? undefined : start + end).lastIndexOf('@')
  return start > 2 && mark >= start ? `${written.slice(0, start)}...${written.slice(mark)}` : written
}

const INSECURE = ['spec', 'insecure']

/** A tenant's sources are fetched encrypted, from an authenticated server. */
export const sourceInsecureTransport: Rule = {
  id: 'source-insecure-transport',
  severity: 'high',
  title: 'Source without TLS or SSH',
  why: 'With plain HTTP, or without certificate verification, an attacker on the network can change the deployed content. The credentials of the source can be read, too.',
  source: 'fluxcd/flux2 rfcs/0004-insecure-http',
  docs: 'Use `https://`, `ssh://` or `oci://`, and remove `spec.insecure`. Name a private certificate authority with `spec.certSecretRef`. List a cluster-internal registry without TLS in `allowedSources` (as `http://...`, or by its host).',
  kinds: sourceKinds,
  *checkTenantObject(subject, { config }) {
    const { object, kind, node } = subject
    const found = addressOf(kind, object)
    const address = typeof found?.address === 'string' ? undefined : found?.address
    const fields: Path[] = []
    if (found && address?.scheme === 'http') fields.push(found.path)
    const flag = subject.at(INSECURE)
    if (flag?.type === 'scalar' && (flag.value === true || flag.value === 'true')) fields.push(INSECURE)
    if (fields.length === 0 || (address && isExempt(config, node.tenant, address))) return
    for (const path of fields) {
      const what =
        path === INSECURE ? 'sets spec.insecure' : message`follows ${quoted('repository', address?.text ?? '')}`
      yield subject.violation(path, path === INSECURE ? 'insecure' : (address?.text ?? ''), {
        message: message`${subject.who} ${what}: its content is neither encrypted nor authenticated. Allowed: https, ssh and oci. Flux accepts it.`,
        fix: path === INSECURE ? message`Remove spec.insecure.` : message`Set the address to https.`,
        ...(path === INSECURE ? { edit: { remove: true } as const } : {}),
      })
    }
  },
}

/** A pattern of the fleet's own that says http, or that names this very host inside of the cluster. */
function isExempt(config: FleetConfig, tenant: string, address: SourceAddress): boolean {
  const inside = internalHost(address.host) !== undefined
  return allowedSourcesOf(config, tenant)
    .flat()
    .some(pattern => (inside || /^http:/i.test(pattern)) && matchesSource(pattern, address.text))
}

const FIELD = ['spec', 'proxySecretRef', 'name']

/** A source uses only proxies that the platform gave. */
export const sourceProxy: Rule = {
  id: 'source-proxy',
  severity: 'high',
  profile: 'restricted',
  title: "Tenant's proxy for a source",
  why: 'A proxy sees every request of the source and its credentials. With its own certificate authority, it can replace the content.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Proxy secret reference"',
  docs: 'Remove `spec.proxySecretRef`, or name a Secret that the platform renders into the namespace. In the profile `baseline` the finding is a warning.',
  kinds: sourceKinds,
  *checkTenantObject(subject, { index }) {
    const name = subject.text(FIELD)
    if (!name) return
    if (index.platformObject(subject.node.cluster, '/Secret', subject.id.namespace, name) !== undefined) return
    yield subject.violation(FIELD, name, {
      message: message`${subject.who} is fetched through the proxy of Secret ${quoted('object', name)}, which the platform does not render. Allowed: no proxy, or a Secret that the platform renders. Flux accepts it.`,
      fix: message`Remove spec.proxySecretRef.`,
      edit: { remove: true },
    })
  },
}

/** Where the fleet pins the repositories of a tenant, it deploys from no other one. */
export const sourceRepoIdentity: Rule = {
  id: 'source-repo-identity',
  severity: 'critical',
  title: 'Repository that is not pinned for the tenant',
  why: "A repository can be renamed, transferred or deleted, and another owner can then create a repository with the same address. GitHub's repository id never changes, so a pinned id identifies the repository.",
  docs: 'List every git repository of the tenant with its id under `tenants` in .github/bailiwick.yaml. A tenant without a list may follow any repository. The App asks GitHub whether the id still belongs to the address. The command line cannot.',
  *checkNode(node, { config, index }) {
    const { url, id, opaque } = node.source
    if (node.tenant === undefined || !id.startsWith('GitRepository/') || url === '') return
    const isAnother = opaque === ANOTHER_REPOSITORY
    // of several tenants each one's list counts
    const pinned = memberSettings(config, node.tenant)
      .map(one => one?.repositories)
      .find(one => one !== undefined && one.size > 0 && (isAnother || !one.has(url)))
    if (!pinned) return
    const known = listed([...pinned.keys()].map(one => quoted('repository', one)))
    const what = message`${objectPart('Kustomization', node.namespace, node.name)} deploys from ${quoted('repository', url)}`
    const value = isAnother ? `${url} ${pinned.get(url)}` : url
    yield Subject.ofNode(node, index.node(node.parent)).violation(['spec', 'sourceRef'], value, {
      message: isAnother
        ? message`${what}, but the repository at that address no longer has the pinned id ${pinned.get(url) ?? ''}: it was recreated, or another one was renamed to it. Allowed: the repository with that id.`
        : message`${what}, whose identity is not pinned for tenant ${quoted('tenant', node.tenant)}. Allowed: ${known}.`,
      fix: isAnother
        ? message`Set the address to where the pinned repository is now, or pin the id of the new repository.`
        : message`Set the address to a pinned repository, or pin this repository with its id under tenants in .github/bailiwick.yaml.`,
    })
  },
}
