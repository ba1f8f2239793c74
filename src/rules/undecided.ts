import { BailiwickError } from '../errors.ts'
import type { FleetNode } from '../fleet/fleet.ts'
import { isBlank, readServiceAccount } from '../fleet/read-spec.ts'
import { isNamespaceName } from '../kube/names.ts'
import { at, type Path, stringAt } from '../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../kube/object.ts'
import { references } from '../kube/references.ts'
import type { FleetIndex } from './fleet-index.ts'
import type { RuleContext, Undecided } from './rule.ts'
import { shown, shownObject } from './shown.ts'

/** What a tenant applies and nobody can judge: an object without a clear identity, or of a kind without a known scope. */
export function* undecided({ fleet, index }: RuleContext): Iterable<Undecided> {
  for (const node of fleet.nodes) {
    if (node.tenant === undefined) continue
    for (const object of node.objects) yield* undecidedObject(index, node, object)
  }
}

function* undecidedObject(index: FleetIndex, node: FleetNode, object: KubeObject): Iterable<Undecided> {
  const { apiVersion, kind, namespace, name } = idOf(object)
  const who = shownObject(kind, namespace, name)
  const invalid = (path: Path, message: string, fix: string): Undecided => ({
    node,
    code: 'invalid-object',
    object,
    path,
    message,
    fix,
  })
  const identity: Path[] = [['apiVersion'], ['kind'], ['metadata', 'name']]
  for (const path of identity) {
    if (stringAt(object.root, path)) continue
    yield invalid(
      path,
      `an object has no ${path.join('.')}, so it cannot be judged`,
      `Write ${path.join('.')} as text.`,
    )
    return
  }
  const written = at(object.root, ['metadata', 'namespace'])
  const text = stringAt(object.root, ['metadata', 'namespace'])
  if (written && text !== '' && (text === undefined || !isNamespaceName(text))) {
    const message = `${who}: metadata.namespace is not a name that Kubernetes accepts`
    yield invalid(['metadata', 'namespace'], message, 'Write the name of a namespace of the tenant as plain text.')
  }
  for (const reference of references(object)) {
    if (reference.namespace !== null) continue
    yield invalid(
      reference.path,
      `${who} refers to a namespace that is not text`,
      'Remove `namespace` from the reference.',
    )
  }
  if (!hasReadableAccount(object)) {
    const message = `${who}: spec.serviceAccountName is not a name that Kubernetes accepts`
    yield invalid(['spec', 'serviceAccountName'], message, 'Name a service account as plain text.')
  }
  if (index.scopeOf(node.cluster, apiVersion, kind) !== undefined) return
  yield {
    node,
    code: 'unknown-scope',
    object,
    path: ['kind'],
    message: `${who} is of a kind that nobody declares (${shown(apiVersion)}): whether it stays in its namespace cannot be decided`,
    fix: 'Let the fleet render its CustomResourceDefinition, or correct apiVersion and kind.',
  }
}

/** A Kustomization's account is read when its node is opened; releases and sets have no node of their own. */
function hasReadableAccount(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  const group = `${groupOf(apiVersion)}/${kind}`
  if (group !== 'helm.toolkit.fluxcd.io/HelmRelease' && group !== 'fluxcd.controlplane.io/ResourceSet') return true
  if (isBlank(at(object.root, ['spec', 'serviceAccountName']))) return true
  try {
    return readServiceAccount(object) !== undefined
  } catch (error) {
    if (error instanceof BailiwickError) return false
    throw error
  }
}
