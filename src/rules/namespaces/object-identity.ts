import { unlessRefused } from '../../base/errors.ts'
import { codeWord, type Message, message, part, untyped } from '../../base/message.ts'
import { probably } from '../../base/name-list.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { identityPart, objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { applierKinds, isBlank, readServiceAccount } from '../../fleet/model/kustomization-spec.ts'
import { references } from '../../flux/references.ts'
import { capabilityOf } from '../../kube/capabilities/index.ts'
import {
  isKubernetesKind,
  isMisplacedClusterKind,
  KUBERNETES_SCOPES,
  misspelled,
} from '../../kube/capabilities/scope.ts'
import { ACCOUNT_FIELD, FLUX_KINDS, KUSTOMIZATION } from '../../kube/flux-kinds.ts'
import { at, type Path } from '../../kube/node.ts'
import { groupOf, idOf, isNamespaceName, type KubeObject, type ObjectId } from '../../kube/object.ts'
import { userInfo } from '../../kube/rbac/policy-rule.ts'
import { resourceOf } from '../../kube/rbac/resources.ts'
import { checkObject, lastServed } from '../../schema/check-object.ts'
import { type Rule, Subject, type Violation } from '../model/rule.ts'
import { comparedVersion } from '../schema/compare-object.ts'

const NAMESPACE = ['metadata', 'namespace']
/** A Kustomization's account is read with its node; releases, sets and others have no node of their own. */
const WITH_ACCOUNT = applierKinds.filter(kind => kind !== KUSTOMIZATION)

/** An object of a tenant whose identity is not clear cannot be evaluated. */
export const invalidObject: Rule = {
  id: 'invalid-object',
  severity: 'high',
  level: 'error',
  title: 'Object without a valid identity',
  why: 'Programs that compare, render and apply objects disagree about an object without a kind, a name or a plain-text namespace. Its effect on the cluster is unknown.',
  docs: 'Set `apiVersion`, `kind`, `metadata.name` and `metadata.namespace` to plain text that Kubernetes accepts. A kind or group that differs from a known one only in case is a violation.',
  kinds: 'every',
  *checkTenantObject(subject, { index }) {
    yield* invalidFields(subject, index)
    yield* spelling(subject, index)
  },
}

function* invalidFields(subject: Subject, index: FleetIndex): Iterable<Violation> {
  const { object, id, kind, node, who } = subject
  const invalid = (path: Path, problem: Message, fix: Message): Violation =>
    subject.violation(path, path.join('.'), { isMalformed: true, message: problem, fix })
  const missing = [['apiVersion'], ['kind'], ['metadata', 'name']].find(path => !subject.text(path))
  if (missing) {
    const field = part('field', missing.join('.'))
    const problem = message`an object has no ${field}, so it cannot be evaluated`
    return yield invalid(missing, problem, message`Set ${field} to a string.`)
  }
  const text = subject.text(NAMESPACE)
  const isNamespaced = index.scopeOf(node.cluster, id.apiVersion, id.kind) === 'Namespaced'
  const written = (isNamespaced && object.nullNamespace) || subject.at(NAMESPACE)
  if (written && text !== '' && (text === undefined || !isNamespaceName(text))) {
    const problem = message`${who}: metadata.namespace is not a valid name in Kubernetes`
    const fix = message`Set metadata.namespace to the name of a namespace of the tenant.`
    yield { ...invalid(NAMESPACE, problem, fix), origin: written.origin }
  }
  for (const reference of references(object)) {
    if (reference.namespace !== null) continue
    const problem = message`${who} refers to a namespace that is not text`
    yield invalid(reference.path, problem, message`Remove \`namespace\` from the reference.`)
  }
  if (WITH_ACCOUNT.includes(kind) && !hasReadableAccount(object)) {
    const problem = message`${who}: spec.serviceAccountName is not a valid name in Kubernetes`
    yield invalid(ACCOUNT_FIELD, problem, message`Set spec.serviceAccountName to the name of a service account.`)
  }
}

function hasReadableAccount(object: Subject['object']): boolean {
  if (isBlank(at(object.root, ACCOUNT_FIELD))) return true
  return unlessRefused(false, () => readServiceAccount(object) !== undefined)
}

/** Some tools and even parts of Flux ignore the case of kinds, but the API server does not. */
function* spelling(subject: Subject, index: FleetIndex): Iterable<Violation> {
  const { object, id, node } = subject
  if (index.scopeOf(node.cluster, id.apiVersion, id.kind) !== undefined) return
  const meant = misspelled(id.apiVersion, id.kind)
  if (meant === undefined) return
  const [served] = meant === '' ? (checkObject(object.root).problems[0]?.names ?? []) : [meant]
  const last = lastServed(id.apiVersion, id.kind)
  const until =
    last === undefined ? message`` : message` Version ${part('value', `1.${last}`)} was the last to serve it.`
  yield subject.violation([meant === '' ? 'apiVersion' : 'kind'], `${id.apiVersion} ${id.kind}`, {
    isMalformed: true,
    level: 'violation',
    message: message`${subject.who} is not of a kind that Kubernetes serves: ${quoted('object', id.kind)} of ${quoted('object', id.apiVersion)}.${meant === '' ? message` No supported Kubernetes version serves that group.${until}` : ''}${served === undefined ? '' : message` Allowed: ${part('value', served)}.`} The API server rejects this: no matches for kind.`,
    fix:
      meant !== ''
        ? message`Set apiVersion and kind to ${part('value', meant)}.`
        : served === undefined
          ? message`Set apiVersion to the group that serves the kind now.`
          : message`Set apiVersion to ${part('value', served)}.`,
  })
}

/** An undeclared kind may be cluster-scoped. */
export const unknownScope: Rule = {
  id: 'unknown-scope',
  severity: 'high',
  title: 'Kind of unknown scope',
  why: 'Bailiwick cannot determine whether an object of an unknown kind is namespaced or cluster-scoped. Kubernetes ignores `metadata.namespace` of a cluster-scoped object.',
  docs: "Render the kind's CustomResourceDefinition in the fleet, or declare the kind and its scope under `kinds` in .github/bailiwick.yaml. Or correct `apiVersion` and `kind`. The finding is a warning where no ClusterRoleBinding lets the account create objects of the API group: the API server rejects cluster-scoped objects then. Aggregated roles, roles outside the fleet, and RBAC that could not be evaluated count as granting it.",
  kinds: 'every',
  *checkTenantObject({ object, id, kind: fullKind, node }, { index, config }) {
    const { apiVersion, kind, namespace, name } = id
    if (apiVersion === '' || kind === '' || name === '') return
    if (index.scopeOf(node.cluster, apiVersion, kind) !== undefined) return
    // the rule invalid-object reports a misspelled kind
    if (misspelled(apiVersion, kind) !== undefined) return
    // the rule cluster-scoped-forbidden reports a kind in the wrong Kubernetes group
    if (isMisplacedClusterKind(apiVersion, kind)) return
    // schema-mismatch reports a kind that Kubernetes does not serve, if the cluster's version is known
    const { runs, minor } = comparedVersion(config, index, node.cluster)
    const isEnforced = !['off', 'warning'].includes(config.severities.get('schema-mismatch') ?? '')
    if (
      runs === undefined &&
      isEnforced &&
      isKubernetesKind(fullKind) &&
      checkObject(object.root, { version: minor }).isKnown
    )
      return
    const who = objectPart(kind, namespace, name)
    const place = { node, object, path: ['kind'], value: `${apiVersion} ${kind}` }
    const group = groupOf(apiVersion)
    const meant = probably(
      kind,
      FLUX_KINDS.flatMap(row => (row.group === group ? [row.kind] : [])),
    )
    const served = probably(
      group,
      [...KUBERNETES_SCOPES.keys()].flatMap(key => (key.endsWith(`/${kind}`) ? [key.split('/')[0]!] : [])),
    )
    const fix = meant
      ? message`Set ${codeWord('kind')} to ${quoted('value', meant)}.`
      : served
        ? message`Correct ${codeWord('apiVersion')}: the group of ${part('value', kind)} is ${quoted('value', served)}.`
        : message`Render its CustomResourceDefinition in the fleet, or declare it under \`kinds\` in .github/bailiwick.yaml. Or correct apiVersion and kind.`
    const reach = index.clusterWide(node, group)
    if (reach === undefined) {
      const problem = message`${who} has a kind of unknown scope (${quoted('object', apiVersion)}). If the kind is cluster-scoped, the API server rejects the object: no ClusterRoleBinding lets ${identityPart(node.identity)} create it.`
      yield { ...place, message: problem, fix, level: 'warning' }
      return
    }
    const problem = message`${who} has a kind of unknown scope (${quoted('object', apiVersion)}). If the kind is cluster-scoped, the account could create it, because ${untyped(reach)}. Allowed: kinds of Kubernetes, of well-known projects, of CustomResourceDefinitions that the platform renders, and of \`kinds\` in .github/bailiwick.yaml.`
    yield { ...place, message: problem, fix }
  },
}

/** The verdict lists these findings apart from warnings (see Verdict.notEvaluated). */
export const KIND_NOT_EVALUATED = 'kind-not-evaluated'

const VERBS = ['create', 'update', 'patch', 'delete', 'get', 'list', 'watch']

/** What a controller makes of an object is known only for kinds that a rule evaluates. */
export const kindNotEvaluated: Rule = {
  id: KIND_NOT_EVALUATED,
  severity: 'low',
  level: 'warning',
  title: 'Kind that is only partly evaluated',
  why: 'Bailiwick knows the references to namespaces, Secrets, hosts and accounts of the kinds in its table. It evaluates objects of other kinds by scope, namespace, pod templates and fields that are named like namespaces. Other effects of their controllers are not evaluated.',
  docs: 'No action is required. The kind is listed under `notEvaluated` in the JSON and never blocks. To allow only known kinds, give the rule a severity under `severities` in .github/bailiwick.yaml: the finding is then a violation. The table is src/kube/capabilities.',
  *checkNode(node, { index }) {
    if (node.tenant === undefined) return
    for (const [kind, objects] of unlooked(node, index)) {
      const [first] = objects as [KubeObject, ...KubeObject[]]
      const id = idOf(first)
      const count = objects.length === 1 ? '1 object is' : `${objects.length} objects are`
      const can = verbsOf(node, id, index)
      const may = can.length > 0 ? `may ${can.join(', ')} them` : 'holds no rendered right to them'
      yield new Subject({ node, object: first }).violation(['kind'], kind, {
        message: message`${quoted('object', kind)}: ${untyped(count)} evaluated only by scope, namespace and pods, because no rule supports the kind. ${identityPart(node.identity)} ${untyped(may)} in namespace ${quoted('object', id.namespace)}.`,
        fix: message`Review what the controller of the kind does for these objects.`,
      })
    }
  },
}

function unlooked(node: FleetNode, index: FleetIndex): Map<string, KubeObject[]> {
  const kinds = new Map<string, KubeObject[]>()
  for (const object of node.objects) {
    const subject = new Subject({ node, object })
    const known = kinds.get(subject.kind)
    if (known) known.push(object)
    else if (subject.id.kind !== '' && isUnlooked(subject, index)) kinds.set(subject.kind, [object])
  }
  return kinds
}

/** What the account could do with such objects, by rendered roles and bindings. */
function verbsOf({ cluster, identity }: FleetNode, id: ObjectId, index: FleetIndex): string[] {
  if (!identity.impersonated) return VERBS
  const authorizer = index.authorizer(cluster)
  const apiGroup = groupOf(id.apiVersion)
  const resource = resourceOf(id.apiVersion, id.kind, new Map())
  const { namespace, name } = id
  const user = userInfo(identity.user)
  return VERBS.filter(verb => authorizer.allows(user, { verb, apiGroup, resource, namespace, name }))
}

/** Flux's and Capsule's kinds have rules of their own. */
const WITH_RULES =
  /^(?:[a-z]+\.(?:toolkit|contrib|extensions)\.fluxcd\.io|fluxcd\.controlplane\.io|capsule\.clastix\.io)\//

/** Whether an object in a namespace is of a kind that no rule evaluates. */
export function isUnlooked({ kind, id, node }: Subject, index: FleetIndex): boolean {
  // another rule reports a misspelled kind of Kubernetes
  if (isKubernetesKind(kind) || misspelled(id.apiVersion, id.kind) !== undefined) return false
  if (WITH_RULES.test(kind) || capabilityOf(kind) !== undefined) return false
  return index.scopeOf(node.cluster, id.apiVersion, id.kind) !== 'Cluster'
}
