import { codeWord, type Message, type MessagePart, message, part } from '../../base/message.ts'
import { probably } from '../../base/name-list.ts'
import { objectCause } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import { isSetNode } from '../../fleet/graph/open-resource-sets.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { isCopied } from '../../fleet/rendering/render-resource-set.ts'
import { ACCESS_FROM } from '../../flux/references.ts'
import { at, type MapNode, originAt, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { displayRbac, readBinding } from '../../kube/rbac/binding.ts'
import { userOfAccount } from '../../kube/rbac/policy-rule.ts'
import type { Problem } from '../../schema/core/problem.ts'
import { hasImmutableFields, immutableChanges } from '../../schema/immutable-changes.ts'
import { lackingCause } from '../capsule/tenant-owners.ts'
import { rightsCause } from '../identity/account-rights.ts'
import type { Edit } from '../model/finding.ts'
import { type Rule, Subject, type Violation } from '../model/rule.ts'
import { fluxMarks } from '../ownership/apply-marks.ts'
import { bindingCause } from '../rbac/binding-subjects.ts'
import { isDecrypted } from '../secrets/sops-not-decrypted.ts'
import { ACCEPTED, type ComparedObject, comparedVersion, compareObject, isMade, renamedKey } from './compare-object.ts'

/** The API server refuses the whole Kustomization where it refuses one object. */
export const schemaMismatch: Rule = {
  id: 'schema-mismatch',
  severity: 'medium',
  title: 'Object that the API server refuses',
  why: 'Flux applies the objects of a Kustomization together. For one unknown field, wrong type or missing field, the API server refuses the object. Flux then applies none of the others.',
  source: 'https://github.com/kubernetes/kubernetes/tree/master/api/openapi-spec',
  docs: [
    'Correct the field. A nested field that Flux drops is a warning. An unknown top-level field, such as `datas` of a ConfigMap, is a violation.',
    'Kinds of Kubernetes are compared with the version that `kubernetes` of `.github/bailiwick.yaml` declares, or that objects of the platform set (the Plan of system-upgrade-controller, KubernetesUpgrade of tuppr, the control planes of Cluster API, clusters of EKS, GKE and AKS). Without either, the newest version is assumed: what every known version refuses is a violation, other findings are warnings. An API version or kind that the cluster or every known version does not serve is a violation. A deprecated one is a warning that names the last version that serves it.',
    'Custom kinds are compared with the CustomResourceDefinition that the platform renders. Without one, they are compared with a catalog of well-known projects. This gives warnings, only where a similar field or word exists, because the cluster may run another release. CEL rules of a definition (`x-kubernetes-validations`) are evaluated on the object with its defaults; those that read `oldSelf` where the base has the object. A rule that cannot be evaluated is a warning that says why.',
    "In objects of Flux, a missing required field is a violation. So is a misspelled field, such as `targetNamspace`: the API server refuses it, and what it was meant to say does not apply. So are an `interval` that is not a duration, and an API version that the cluster's Flux does not serve or no Flux 2 ever served. If the version of Flux is not known, an API version that the newest Flux does not serve is a warning.",
    'Some fields cannot be changed in an existing object: the selector of a Deployment, the template of a Job, `roleRef`. Such a change is a violation, or a warning if the version of the cluster is not known. No version lets `roleRef` change, so that is always a violation. With `force`, Flux recreates the object, and there is no finding.',
    'Other kinds and values that are unknown are not compared.',
  ].join('\n\n'),
  givesWay: true,
  kinds: 'every',
  *checkObject(subject, { config, index, before }) {
    const { object, node } = subject
    const version = comparedVersion(config, index, node.cluster)
    const definitions = (of: string) => index.definitionsOf(node.cluster, of)
    // sops-not-decrypted reports a Secret that nothing decrypts
    const isOpened = isDecrypted(node) || subject.kind === '/Secret'
    const old = before && updatedFrom(subject, before)
    const compared = compareObject(object, version, definitions, isOpened, old)
    const found = [...mismatches(subject, withoutCopied(compared, node, object))]
    for (const violation of found) if (!isOfError(violation, index)) yield violation
    const blocked = new Set(found.flatMap(({ level, path }) => (level === 'violation' ? path.join('/') : [])))
    for (const update of before ? refusedUpdates(subject, { index, before }, version.isCertain) : [])
      if (!blocked.has(update.path.join('/'))) yield update
  },
}

/** Whether the field causes an existing error: a Kustomization that cannot be evaluated, or an unmatched patch. */
function isOfError({ object, path, node }: Violation, index: FleetIndex): boolean {
  const all = index.nodesIn(node.cluster, idOf(object).namespace).flatMap(({ error }) => error ?? [])
  const { file, line } = originAt(object.root, path)
  const errors = [...all.filter(({ code }) => code === 'flux-invalid'), ...(node.holes ?? []).map(hole => hole.error)]
  return errors.some(({ origin }) => origin?.file === file && origin.line === line)
}

/** Omits keys that `data` lacks only because the Flux Operator copies them from another object. */
function withoutCopied(compared: ComparedObject, node: FleetNode, object: KubeObject): ComparedObject {
  if (!isSetNode(node) || !isCopied(object)) return compared
  const problems = compared.answer.problems.filter(({ kind, path }) => kind !== 'missing-field' || path[0] !== 'data')
  const count = compared.answer.count - (compared.answer.problems.length - problems.length)
  return { ...compared, answer: { ...compared.answer, problems, count } }
}

/** What one upgrade causes for all objects of a kind: one warning to people. */
const OF_VERSIONS: ReadonlySet<Problem['kind']> = new Set(['unknown-kind', 'deprecated-version'])

/** Problems of one object that an edit is sought for: a key that is renamed is compared with the whole object again. */
const MAX_EDITS = 12

/** Each place of an object that the cluster refuses, or may refuse. */
function* mismatches(
  { object, id, node }: Pick<Subject, 'object' | 'id' | 'node'>,
  compared: ComparedObject,
): Iterable<Violation> {
  const { problems, count } = compared.answer
  const who = objectPart(id.kind, id.namespace, id.name)
  let left = MAX_EDITS
  let all: number | undefined
  const countOfAll = () => (all ??= compared.again(object.root).count)
  const levels = new Map(problems.map(problem => [problem, levelOf(problem, compared)]))
  for (const problem of withoutParts(object.root, levels)) {
    if (compared.isCatalog && mayBeNewer(object.root, problem)) continue
    const level = levels.get(problem)!
    yield new Subject({ node, object }).violation(problem.path, problemKey(problem), {
      level,
      ...(level === 'warning' && OF_VERSIONS.has(problem.kind)
        ? { cause: `${problem.kind} ${id.apiVersion} ${id.kind}` }
        : {}),
      leads: [objectCause(id)],
      ...problemText(problem, who, compared.server()),
      ...(problem.kind === 'not-allowed' && problem.names ? { allowed: problem.names } : {}),
      ...(left-- > 0 ? editOf(object.root, problem, compared.again, countOfAll) : {}),
    })
  }
  for (const { path, rule, why } of compared.isCatalog ? [] : (compared.answer.notEvaluated ?? [])) {
    yield new Subject({ node, object }).violation(path, `rule not evaluated ${path.join('.')} ${rule}`, {
      level: 'warning',
      message: message`${who}: a rule of ${compared.server()} was not evaluated: ${quoted('value', why)}. The rule is ${part('value', rule)}.`,
      fix: message`Check on the cluster whether the API server accepts the object.`,
    })
  }
  if (count <= problems.length) return
  yield new Subject({ node, object }).violation([], 'more', {
    level: compared.isCertain ? 'violation' : 'warning',
    message: message`${who}: ${count - problems.length} more fields do not match ${compared.server()}. The first ${problems.length} are listed.`,
    fix: message`Correct the listed fields first.`,
  })
}

/** The first part of a path that an object does not have, if something inside it is meant. */
function missingPart(root: MapNode, path: Path): Path | undefined {
  const parts = path.slice(1).map((_, index) => path.slice(0, index + 1))
  return parts.find(part => at(root, part) === undefined || isMade(root, part))
}

/** Of a part that is missing as a whole, one problem stands for all inside it: the first that blocks. */
function withoutParts(root: MapNode, levels: ReadonlyMap<Problem, 'violation' | 'warning'>): Problem[] {
  const groups = Map.groupBy(levels.keys(), problem => JSON.stringify(missingPart(root, problem.path)) ?? problem)
  return [...groups.values()].map(all => all.find(one => levels.get(one) === 'violation') ?? all[0]!)
}

/** Includes the rule text because two rules may refuse the same field. */
const problemKey = ({ kind, path, allowed }: Problem): string =>
  `${kind} ${path.join('.')}${kind === 'rule' ? ` ${allowed}` : ''}`

/** A problem is a violation if the cluster certainly refuses the object, or Flux drops a part of it, and otherwise a warning. */
function levelOf(
  problem: Problem,
  { isCertain, refusedByAll = [] }: Pick<ComparedObject, 'isCertain' | 'refusedByAll'>,
): 'violation' | 'warning' {
  const isPart = problem.kind === 'dropped-field' && problem.path.length === 1
  const isRefused = isPart || !ACCEPTED.includes(problem.kind)
  return isRefused && (isCertain || refusedByAll.includes(problem)) ? 'violation' : 'warning'
}

/** An unknown field or word that resembles no known one: a later release on the cluster may know it. */
function mayBeNewer(root: MapNode, problem: Problem): boolean {
  const { kind, path, names = [] } = problem
  if (kind === 'unknown-field') return probably(String(path.at(-1)), names) === undefined
  if (kind !== 'not-allowed') return false
  const written = stringAt(root, path)
  return written === undefined || probably(written, names) === undefined
}

/** A word that differs from an allowed one only in case becomes that one; a key that resembles only one is renamed. */
function editOf(
  root: MapNode,
  problem: Problem,
  again: ComparedObject['again'],
  countOfAll: () => number,
): { edit?: Edit } {
  const { kind, path, names = [] } = problem
  if (kind === 'unknown-field' || kind === 'dropped-field') return renaming(root, problem, again, countOfAll)
  const written = kind === 'not-allowed' ? stringAt(root, path)?.toLowerCase() : undefined
  const [meant, ...others] = names.filter(name => name.toLowerCase() === written)
  return meant === undefined || others.length > 0 ? {} : { edit: { set: meant } }
}

/** Certain only if the map has no such key yet, and the value is one that is valid there. */
function renaming(
  root: MapNode,
  { path, names = [], since, until }: Problem,
  again: ComparedObject['again'],
  countOfAll: () => number,
): { edit?: Edit } {
  const key = String(path.at(-1))
  const alike = names.filter(name => probably(key, [name]) !== undefined)
  const [meant] = alike
  const start = path.slice(0, -1)
  const parent = at(root, start)
  if (meant === undefined || alike.length > 1 || since !== undefined || until !== undefined) return {}
  if (parent?.type !== 'map' || parent.fields.has(meant)) return {}
  const renamed = renamedKey(root, path, meant)
  if (!renamed) return {}
  const after = again(renamed)
  const isValid = after.problems.every(one => !startsWith(one.path, [...start, meant]))
  return isValid && after.count < countOfAll() ? { edit: { rename: meant } } : {}
}

const startsWith = (path: Path, start: Path) => start.every((step, at) => path[at] === step)

/** Changes to fields that the API server keeps immutable. `isDeclared`: the fleet declares its version. */
function* refusedUpdates(
  subject: Subject,
  { index, before }: Record<'index' | 'before', FleetIndex>,
  isDeclared: boolean,
): Iterable<Violation> {
  const { object, id, kind, node, who } = subject
  if (!hasImmutableFields(kind)) return
  const was = updatedFrom({ object, id, kind, node }, before)
  if (was === undefined || was === object) return
  for (const problem of immutableChanges(kind, was.root, object.root)) {
    // that it is missing is found already, where anything requires it
    const isMissing = missingPart(object.root, problem.path) !== undefined
    const cause = objectCause(id)
    yield subject.violation(problem.path, `${problem.kind} ${problem.path.join('.')}`, {
      level: isDeclared || problem.words ? 'violation' : 'warning',
      ...(isMissing ? { follows: [cause] } : { leads: [cause] }),
      ...problemText(problem, who, message`the API server`),
      ...(problem.path[0] === 'roleRef' && !isMissing ? followsRights(subject, index) : {}),
    })
  }
}

/** account-cannot-apply reports what a binding's accounts cannot apply by its new role, and names the role that was meant. */
function followsRights({ object, node }: Subject, index: FleetIndex): Pick<Violation, 'follows'> {
  const binding = readBinding(object)
  const { namespace = '', subjects = [] } = binding ?? {}
  const accounts = subjects.filter(({ kind }) => kind === 'ServiceAccount')
  const users = accounts.map(({ namespace: home, name }) => userOfAccount(home, name))
  const rights = users.flatMap(user => [
    rightsCause(index, { node, user, namespace }),
    lackingCause('impersonate', user),
  ])
  return { follows: [...rights, ...(binding ? [bindingCause(displayRbac(binding))] : [])] }
}

/** The object before the update; undefined where Flux creates the object or may recreate it. */
function updatedFrom(
  { object, id, kind, node }: Pick<Subject, 'object' | 'id' | 'kind' | 'node'>,
  before: FleetIndex,
): KubeObject | undefined {
  if (isForced(node) || isApart(object)) return undefined
  const versions = before.versionsOf(node.cluster, kind, id.namespace, id.name)
  const was = versions.find(one => one.node.key === node.key) ?? (versions.length === 1 ? versions[0] : undefined)
  return was === undefined || isApart(was.object) ? undefined : was.object
}

/** With `spec.force`, Flux deletes and recreates an object that it cannot update. */
function isForced({ kustomization }: FleetNode): boolean {
  const force = at(kustomization.root, ['spec', 'force'])
  return force !== undefined && !(force.type === 'scalar' && (force.value === false || force.value === null))
}

/** Values of the annotations with which Flux recreates an object or does not update it. */
const APART: ReadonlyMap<string, readonly string[]> = new Map([
  ['kustomize.toolkit.fluxcd.io/force', ['enabled']],
  ['kustomize.toolkit.fluxcd.io/ssa', ['ignore', 'ifnotpresent']],
  ['kustomize.toolkit.fluxcd.io/reconcile', ['disabled']],
])
const isApart = (object: KubeObject): boolean => fluxMarks(object, APART).length > 0

/** Of more names only the number is given. */
const MAX_NAMES = 12

const consequence = ({ kind }: Problem) =>
  kind === 'dropped-labels' ? message` Flux drops all labels of the object.` : message``

/** What `server`, a version of Kubernetes or the definition of a kind, refuses in an object, and the edit that mends it. Values are never shown: they may be secret. */
function problemText(problem: Problem, who: MessagePart, server: Message): { message: Message; fix: Message } {
  const { path } = problem
  const field = quoted('field', path.join('.'))
  switch (problem.kind) {
    case 'unknown-field':
      return unknownField(problem, message`${who}: ${server} has no field ${field}.`, field)
    case 'dropped-field':
      return unknownField(
        problem,
        message`${who}: Flux drops the field ${field}, which Kubernetes does not know, so it has no effect.`,
        field,
      )
    case 'missing-field':
      return {
        message: message`${who}: ${field} is missing, which ${server} requires.${allowedWords(problem)}${neededText(problem)}`,
        fix: message`Set ${field}.`,
      }
    case 'dropped-labels':
    case 'wrong-type':
    case 'bad-format':
      return {
        message: message`${who}: ${field} is ${part('text', problem.found)}. Allowed: ${part('text', problem.allowed)}.${consequence(problem)}`,
        fix: message`Set ${field} to ${part('text', problem.allowed)}.`,
      }
    case 'not-allowed':
      return {
        message: message`${who}: ${field} has a value that ${server} does not know.${allowedWords(problem)}`,
        fix: message`Set ${field} to one of the allowed values.`,
      }
    case 'forbidden-field':
      return {
        message: message`${who}: ${field} may not stand here. Allowed: ${part('text', problem.allowed)}.`,
        fix: message`Remove ${field}.`,
      }
    case 'immutable':
      return {
        message: message`${who}: the API server refuses to change ${field} of an object that exists${problem.words ? message` (${part('value', problem.words)}). Flux applies nothing of the Kustomization` : ''}.`,
        fix: message`Leave ${field} as it is, or give the object another name.`,
      }
    case 'rule':
      return {
        message: message`${who}: ${server} does not allow ${path.length === 0 ? message`the object` : field}: ${quoted('value', problem.found)}.`,
        fix: message`Change ${path.length === 0 ? message`the object` : field} so that this rule is true: ${part('value', problem.allowed)}.`,
      }
    case 'no-match':
      return {
        message: message`${who}: ${field} matches none of the alternatives that ${server} allows. Allowed: ${part('text', problem.allowed)}.`,
        fix: message`Change ${field} so that it matches.`,
      }
    case 'duplicate':
      return {
        message: message`${who}: ${field} is a duplicate. Allowed: ${part('text', problem.allowed)}.`,
        fix: message`Remove ${field}, or merge it into the other item.`,
      }
    case 'unknown-kind':
      return unknownKind(problem, who, server)
    case 'deprecated-version':
      return deprecatedVersion(problem, who)
  }
}

/** What a missing field must contain, if not any value will do. */
const neededText = ({ allowed, names }: Problem): Message =>
  names === undefined && allowed !== 'a value' ? message` Needed: ${part('text', allowed)}.` : message``

function allowedWords({ names }: Problem): Message {
  if (names === undefined) return message``
  const listed = part('value', names.slice(0, MAX_NAMES).join(', '))
  const more = names.length - MAX_NAMES
  return more > 0 ? message` Allowed: ${listed} and ${more} more.` : message` Allowed: ${listed}.`
}

function unknownField(problem: Problem, what: Message, field: MessagePart): { message: Message; fix: Message } {
  const { since, until, names = [], path } = problem
  // removing the block of an encrypted object makes its values undecryptable
  if (path.length === 1 && path[0] === 'sops') {
    return {
      message: message`${what} The Kustomization that applies the object does not decrypt it, or SOPS did not write all of the block.`,
      fix: message`Set ${codeWord('spec.decryption')} of that Kustomization, or encrypt the file again with SOPS.`,
    }
  }
  if (path.join('.') === 'spec.accessFrom') {
    return {
      message: message`${what} The access control list of this kind is provisional in Flux.`,
      fix: message`Move the list to the annotation ${part('value', ACCESS_FROM)} of the object: the gate enforces it there.`,
    }
  }
  if (since !== undefined) {
    return {
      message: message`${what} Version ${part('value', since)} is the first to have it.`,
      fix: message`Remove ${field}, or declare the version of the cluster in ${codeWord('.github/bailiwick.yaml')} if it is newer.`,
    }
  }
  if (until !== undefined) {
    return {
      message: message`${what} Version ${part('value', until)} was the last to have it.`,
      fix: message`Remove ${field}.`,
    }
  }
  const meant = probably(String(problem.path.at(-1)), names)
  return meant === undefined
    ? { message: message`${what}${allowedWords(problem)}`, fix: message`Remove ${field}.` }
    : { message: what, fix: message`Rename it to ${part('value', meant)}, or remove it.` }
}

function unknownKind(
  { path, since, until, names = [] }: Problem,
  who: MessagePart,
  server: Message,
): { message: Message; fix: Message } {
  const isKind = path[0] === 'kind'
  const last =
    until !== undefined
      ? message` Version ${part('value', until)} was the last to serve it.`
      : since === undefined
        ? message``
        : message` Version ${part('value', since)} is the first to serve it.`
  return names.length === 0
    ? {
        message: message`${who}: ${server} has no objects of this kind to apply.${last}`,
        fix: message`Remove the object, or replace it with a kind that is served.`,
      }
    : {
        message: message`${who}: ${server} does not serve this ${isKind ? 'kind' : 'apiVersion'}.${last} Allowed: ${part('value', names.join(', '))}.`,
        fix: message`Set ${isKind ? 'kind' : 'apiVersion'} to ${part('value', names[0]!)}.`,
      }
}

function deprecatedVersion(
  { since = '', until = '', names = [] }: Problem,
  who: MessagePart,
): { message: Message; fix: Message } {
  const what = message`${who}: Kubernetes ${part('value', since)} deprecates this apiVersion, and ${part('value', until)} is the last version that serves it.`
  return names.length === 0
    ? { message: what, fix: message`Replace the object before the cluster is upgraded.` }
    : {
        message: message`${what} Allowed: ${part('value', names.join(', '))}.`,
        fix: message`Set apiVersion to ${part('value', names[0]!)}.`,
      }
}
