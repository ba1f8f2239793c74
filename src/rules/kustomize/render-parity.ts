import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { artifactPath } from '../../flux/artifact-path.ts'
import { at, type Node, originAt, type Path } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { KUSTOMIZATION_FILES } from '../../kustomize/paths/find-kustomization.ts'
import { codeWord, message, part } from '../../message/message.ts'
import type { Origin } from '../../origin.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { isIdentity, isSecurity } from './support/guarded-place.ts'
import { isUnsubstituted } from './support/is-unsubstituted.ts'
import { scanObject } from './support/scan-object.ts'

/** What a reviewer sees of a tenant's directory is what is deployed from it. */
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
  const { object, id, node } = subject
  const step = object.trail.find(one => one.step === 'local-config')
  if (!step) return
  const origin: Origin = { repository: object.root.origin.repository, file: step.file, line: step.line, column: 1 }
  yield {
    node,
    object,
    path: ['metadata', 'annotations'],
    origin,
    value: 'local-config',
    message: message`${objectPart(id.kind, id.namespace, id.name)} has the annotation config.kubernetes.io/local-config, but a patch removes the annotation and so deploys the object. Allowed: the annotation only on objects that are not deployed.`,
    fix: message`Remove the annotation from the manifest.`,
  }
}

function* hidden(subject: Subject): Generator<Violation> {
  const { object, id, node } = subject
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
  yield {
    node,
    object,
    path: [],
    value: file,
    message: message`${objectPart(id.kind, id.namespace, id.name)} comes from ${quoted('path', file)}, ${why}. Allowed: files that end in .yaml and are not hidden.`,
    fix: message`Move the object to a file that ends in .yaml and is not hidden, and list the file in ${codeWord('kustomization.yaml')}.`,
  }
}

/** Only where a tenant wrote the Kustomization, too: what the platform adds to a tenant's manifests is meant to hold. */
function* rewritten({ object, id, node }: Subject, { index }: RuleContext): Generator<Violation> {
  if (groupOf(id.apiVersion) !== 'rbac.authorization.k8s.io' || index.node(node.parent)?.tenant === undefined) return
  for (const field of ['roleRef', 'subjects', 'rules']) {
    const patched = at(object.root, [field]) && firstPatched(at(object.root, [field])!, [field])
    if (!patched) continue
    yield {
      node,
      object,
      path: patched,
      origin: originAt(object.root, patched),
      value: `patched ${field}`,
      message: message`${quoted('field', field)} of ${objectPart(id.kind, id.namespace, id.name)} is set by a patch in the spec of Kustomization ${quoted('object', node.name)}, so the overlay shows other rights. Allowed: rights in the manifest.`,
      fix: message`Write ${part('field', field)} in the manifest.`,
    }
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

function* composed({ object, id, node }: Subject): Generator<Violation> {
  const group = groupOf(id.apiVersion)
  const isGuarded = (path: Path) => isIdentity(group, path) || isSecurity(path)
  const functions = (object.made ?? []).filter(({ how, path }) => how === 'function' && isGuarded(path))
  const left = isUnsubstituted(object) ? scanObject(object.root).templated.filter(({ path }) => isGuarded(path)) : []
  for (const { path } of [...functions, ...left]) {
    const field = quoted('field', path.join('.'))
    const what = left.length > 0 ? 'has a variable that is not substituted' : 'is composed from a variable'
    yield {
      node,
      object,
      path,
      value: `composed ${path.join('.')}`,
      message: message`${field} of ${objectPart(id.kind, id.namespace, id.name)} ${what}, so the manifest does not show its value. Allowed: a value in the manifest.`,
      fix: message`Write the value of ${field} in the manifest.`,
    }
  }
}
