import { codeWord, message, part, untyped } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import { quoted, whoOf } from '../../fleet/facts/shown.ts'
import { type Need, needsOf } from '../../fleet/graph/node-values.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { artifactPath } from '../../flux/artifact.ts'
import { KUSTOMIZATION } from '../../kube/flux-kinds.ts'
import { at, entriesOf, type Node, originAt, type Path, type ScalarNode } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { KUSTOMIZATION_FILES } from '../../kustomize/paths.ts'
import { scalarsOf } from '../model/object-values.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'
import { isOwnSecret, platformSecret } from '../secrets/platform-secrets.ts'
import { routeKinds } from '../workloads/routes.ts'
import { isIdentity, isSecurity, isStructure, isUnsubstituted, scanObject } from './object-scan.ts'

/** What a reviewer sees in a tenant's directory is what is deployed from it. */
export const renderParity: Rule = {
  id: 'render-parity',
  severity: 'high',
  title: 'Deployed content that the overlay does not show',
  why: 'Flux deploys more than a reader of the overlay sees: hidden files where kustomization.yaml is missing, files without a manifest extension, objects that a patch brings back into the build, grants that a patch of the Flux Kustomization changes, and identities that are composed from parts. Bailiwick renders and evaluates all of these.',
  source: 'fluxcd/pkg kustomize, scanManifests; kustomize api/resource/factory.go',
  docs: 'List deployed files in kustomization.yaml, end their names in `.yaml`, and write out kinds, namespaces, accounts and grants.',
  kinds: 'every',
  *checkTenantObject(subject, context) {
    yield* revived(subject)
    yield* hidden(subject)
    yield* rewritten(subject, context)
    yield* composed(subject)
  },
}

function* revived(subject: Subject): Generator<Violation> {
  const step = subject.object.trail.find(one => one.step === 'local-config')
  if (!step) return
  const origin: Origin = {
    repository: subject.object.root.origin.repository,
    file: step.file,
    line: step.line,
    column: 1,
  }
  yield subject.violation(['metadata', 'annotations'], 'local-config', {
    origin,
    message: message`${subject.who} has the annotation config.kubernetes.io/local-config, but a patch removes the annotation and so deploys the object. Allowed: the annotation only on objects that are not deployed.`,
    fix: message`Remove the annotation from the manifest.`,
  })
}

function* hidden(subject: Subject): Generator<Violation> {
  const { object, node } = subject
  const { file } = object.root.origin
  const outermost = object.trail.findLast(one => one.step === 'resource' || one.step === 'generator')?.file ?? file
  const home = artifactPath(node.path)
  const inside = home === '' ? outermost : outermost.startsWith(`${home}/`) ? outermost.slice(home.length + 1) : ''
  const name = file.slice(file.lastIndexOf('/') + 1)
  const isManifest = /\.(?:ya?ml|json)$/i.test(name) || (KUSTOMIZATION_FILES as readonly string[]).includes(name)
  const why = !isManifest
    ? 'whose name is not that of a manifest'
    : inside.split('/').some(part => part.startsWith('.'))
      ? 'a hidden file that Flux deploys because kustomization.yaml is missing'
      : undefined
  if (why === undefined) return
  yield subject.violation([], file, {
    message: message`${subject.who} comes from ${quoted('path', file)}, ${why}. Allowed: files that end in .yaml and are not hidden.`,
    fix: message`Move the object to a file that ends in .yaml and is not hidden, and list the file in ${codeWord('kustomization.yaml')}.`,
  })
}

/** Only where a tenant also wrote the Kustomization: what the platform adds to a tenant's manifests is intended. */
function* rewritten(subject: Subject, { index }: RuleContext): Generator<Violation> {
  const { object, id, node } = subject
  if (groupOf(id.apiVersion) !== 'rbac.authorization.k8s.io' || index.node(node.parent)?.tenant === undefined) return
  for (const field of ['roleRef', 'subjects', 'rules']) {
    const patched = subject.at([field]) && firstPatched(subject.at([field])!, [field])
    if (!patched) continue
    yield subject.violation(patched, `patched ${field}`, {
      origin: originAt(object.root, patched),
      message: message`${quoted('field', field)} of ${subject.who} is set by a patch in the spec of Kustomization ${quoted('object', node.name)}. The overlay shows other rights. Allowed: rights in the manifest.`,
      fix: message`Write ${part('field', field)} in the manifest.`,
    })
  }
}

function firstPatched(node: Node, path: Path): Path | undefined {
  if (node.origin.via?.some(({ step }) => step === 'flux-patch')) return path
  const inner =
    node.type === 'list'
      ? [...node.items.entries()]
      : node.type === 'map'
        ? [...node.fields].map(([key, { value }]) => [key, value] as const)
        : []
  for (const [step, value] of inner) {
    const found = firstPatched(value, [...path, step])
    if (found) return found
  }
  return undefined
}

function* composed(subject: Subject): Generator<Violation> {
  const { object, id } = subject
  const group = groupOf(id.apiVersion)
  const isGuarded = (path: Path) => isIdentity(group, path) || isSecurity(path)
  const functions = (object.made ?? []).filter(({ how, path }) => how === 'function' && isGuarded(path))
  const left = isUnsubstituted(object) ? scanObject(object.root).templated.filter(({ path }) => isGuarded(path)) : []
  for (const { path } of [...functions, ...left]) {
    const field = quoted('field', path.join('.'))
    const what = left.length > 0 ? 'has a variable that is not substituted' : 'is composed from a variable'
    yield subject.violation(path, `composed ${path.join('.')}`, {
      message: message`${field} of ${subject.who} ${what}. The manifest does not show its value. Allowed: a value in the manifest.`,
      fix: message`Write the value of ${field} in the manifest.`,
    })
  }
}

/** A variable's value stays in its place. The renderer raises it where a value ends the text around it. */
export const substitutionInjection: Rule = {
  id: 'substitution-injection',
  severity: 'critical',
  title: 'Variable that adds YAML',
  why: 'Flux substitutes variables in the text of objects. A value with braces, quotes or comments can add fields that are in no manifest: another namespace or another account.',
  source: 'fluxcd/pkg kustomize, SubstituteVariables',
  docs: 'Set each variable to one string, number or boolean, and use a patch for larger content. A list of plain values as the value of one field is allowed.',
  kinds: 'every',
  *checkTenantObject(subject) {
    for (const { path, how } of subject.object.made ?? []) {
      if (how !== 'structure' || !(isStructure(path) || isIdentity(groupOf(subject.id.apiVersion), path))) continue
      const field = quoted('field', path.join('.'))
      yield subject.violation(path, `structure ${path.join('.')}`, {
        message: message`${field} of ${subject.who} becomes a map or a list through the value of a variable. No manifest shows its fields. Allowed: variables with one string, number or boolean.`,
        fix: message`Write ${field} in the manifest, and use variables only for single values in it.`,
      })
    }
  },
}

const SECRET = 'Secret/'

/** The platform's Secrets do not become text that others read. */
export const secretExfilSubstitution: Rule = {
  id: 'secret-exfil-substitution',
  severity: 'high',
  title: 'Secret value substituted into another object',
  why: 'The controller substitutes Secret values with its own rights into any object that names the variable. In a ConfigMap or an annotation, everyone with read access to the namespace can read the value. In a host name, DNS publishes it.',
  source: 'kustomize-controller, spec.postBuild.substituteFrom',
  docs: "Use `secretKeyRef` in workloads. Substitute only from Secrets that the tenant renders. Do not use values from the platform's Secrets in ConfigMaps, labels, annotations and hosts.",
  kinds: [KUSTOMIZATION],
  *checkTenantObject(subject, { index }) {
    yield* taken(subject, index)
  },
  *checkNode(node, { index }) {
    if (node.tenant !== undefined) yield* leaked(node, node.tenant, index)
  },
}

/** A tenant's Kustomization that substitutes from a Secret which the tenant does not render. */
function* taken(subject: Subject, index: FleetIndex): Iterable<Violation> {
  for (const need of foreignSecrets(subject.object, subject.node, index)) {
    const name = nameOf(need)
    const platforms = platformSecret(index, subject.node, subject.id.namespace, name)
    const isKnown = platforms !== undefined && !platforms.isGuess
    const why = untyped(platforms?.why ?? "it may be the platform's")
    const whose = isKnown ? message`belongs to the platform: ${why}` : message`nothing visible creates: ${why}`
    yield subject.asNode(index).violation(['spec', 'postBuild', 'substituteFrom'], name, {
      origin: need.origin,
      ...(isKnown ? {} : { level: 'warning' }),
      message: message`${subject.who} substitutes from the Secret ${quoted('object', name)}, which ${whose}. Allowed: Secrets of the tenant. Flux reads it with the controller's rights.`,
      fix: isKnown
        ? message`Remove it from substituteFrom, and refer to the Secret with secretKeyRef.`
        : message`Add the Secret to the tenant's repository, encrypted with SOPS. Or refer to it with secretKeyRef.`,
    })
  }
}

/** What a tenant's objects expose of a Secret that the platform offers as variables. */
function* leaked(node: FleetNode, tenant: string, index: FleetIndex): Iterable<Violation> {
  const secrets = foreignSecrets(node.kustomization, node, index)
  if (secrets.length === 0) return
  const places = placesOf(secrets, node, index)
  const ids = new Set(secrets.map(({ id }) => id))
  for (const object of node.objects) {
    const kind = kindOf(object)
    if (kind === '/Secret') continue
    for (const base of open(kind)) {
      const part = at(object.root, base)
      if (!part) continue
      for (const { path, node: scalar } of scalarsOf(part, base)) {
        const name = shows(scalar, ids, places)
        if (name !== undefined) yield leak(node, tenant, object, path, name)
      }
    }
  }
}

/** Fields that are visible to every reader of the object, or by DNS. */
function open(kind: string): readonly Path[] {
  const metadata = [
    ['metadata', 'annotations'],
    ['metadata', 'labels'],
    ['metadata', 'name'],
  ]
  if (kind === '/ConfigMap') return [['data'], ...metadata]
  return routeKinds.includes(kind) ? [['spec'], ...metadata] : metadata
}

function foreignSecrets(kustomization: KubeObject, node: FleetNode, index: FleetIndex): Need[] {
  const { namespace } = idOf(kustomization)
  return needsOf(kustomization).filter(need => {
    if (!need.id.startsWith(SECRET)) return false
    return !isOwnSecret(index, node, namespace, nameOf(need))
  })
}

const nameOf = ({ id }: Need) => id.slice(id.lastIndexOf('/') + 1)

/** The names of variables from Secrets, by where they are written, if the fleet renders them. */
function placesOf(secrets: readonly Need[], node: FleetNode, index: FleetIndex): ReadonlyMap<string, string> {
  const places = new Map<string, string>()
  for (const need of secrets) {
    for (const { object } of index.versionsOf(node.cluster, '/Secret', node.namespace, nameOf(need))) {
      for (const [key] of entriesOf(at(object.root, ['data']))) {
        const { file, line } = originAt(object.root, ['data', key])
        places.set(`${file}:${line}`, key)
      }
    }
  }
  return places
}

/** The Secret variable that a scalar shows: by its value's origin, or by its holder where the value is unknown. */
function shows(
  scalar: ScalarNode,
  secrets: ReadonlySet<string>,
  places: ReadonlyMap<string, string>,
): string | undefined {
  for (const { step, file, line } of scalar.origin.via ?? []) {
    const name = step === 'substitution' ? places.get(`${file}:${line}`) : undefined
    if (name !== undefined) return name
  }
  return scalar.opaque?.find(({ kind, namespace, name }) => secrets.has(`${kind}/${namespace}/${name}`))?.key
}

function leak(node: FleetNode, tenant: string, object: KubeObject, path: Path, name: string): Violation {
  return new Subject({ node, object }).violation(path, name, {
    message: message`${whoOf(object)} of tenant ${quoted('tenant', tenant)} exposes the variable ${quoted('object', name)} to everyone who can read the object. Its value is in a Secret of the platform. Allowed: a reference to the Secret. Flux would write the value into the object.`,
    fix: message`Replace the variable with a secretKeyRef in the workload.`,
  })
}
