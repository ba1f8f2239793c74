import type { FleetIndex } from '../../facts/fleet-index.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { type Need, needsOf } from '../../fleet/graph/node-values.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { KUSTOMIZATION } from '../../flux/kinds.ts'
import { at, originAt, type Path, type ScalarNode } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { message } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { isOwnSecret } from '../references/support/is-own-secret.ts'
import { routeKinds } from '../workloads/support/route-hosts.ts'
import { scalarsOf } from './support/scalars-of.ts'

const SECRET = 'Secret/'

/** Secrets of the platform do not become text that others read. */
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

/** A Kustomization that the tenant writes, and that substitutes from a Secret which the tenant does not render. */
function* taken({ object, id, node }: Subject, index: FleetIndex): Iterable<Violation> {
  for (const need of foreignSecrets(object, node, index)) {
    const name = nameOf(need)
    yield {
      node: index.nodeOf(node.cluster, object) ?? node,
      renderedBy: node,
      object,
      path: ['spec', 'postBuild', 'substituteFrom'],
      origin: need.origin,
      value: name,
      message: message`${objectPart(id.kind, id.namespace, id.name)} substitutes from the Secret ${quoted('object', name)}, which the tenant does not render, so it belongs to the platform. Allowed: Secrets of the tenant. Flux reads it with the controller's rights.`,
      fix: message`Remove it from substituteFrom, and refer to the Secret with secretKeyRef.`,
    }
  }
}

/** What a tenant's objects show of a Secret that the platform offers as variables. */
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

/** What everybody who may read the object, or asks DNS, gets to see. */
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

/** The names of variables that come from Secrets, as far as the fleet renders these, by where they are written. */
function placesOf(secrets: readonly Need[], node: FleetNode, index: FleetIndex): ReadonlyMap<string, string> {
  const places = new Map<string, string>()
  for (const need of secrets) {
    for (const { object } of index.versionsOf(node.cluster, '/Secret', node.namespace, nameOf(need))) {
      const data = at(object.root, ['data'])
      if (data?.type !== 'map') continue
      for (const key of data.fields.keys()) {
        const { file, line } = originAt(object.root, ['data', key])
        places.set(`${file}:${line}`, key)
      }
    }
  }
  return places
}

/** The variable of a Secret that a scalar shows: by the place that its value came from, or by who holds it where it is unknown. */
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
  const { kind, namespace, name: own } = idOf(object)
  return {
    node,
    object,
    path,
    value: name,
    message: message`${objectPart(kind, namespace, own)} of tenant ${quoted('tenant', tenant)} exposes the variable ${quoted('object', name)} to everyone who can read the object. Its value is in a Secret of the platform. Allowed: a reference to the Secret. Flux would write the value into the object.`,
    fix: message`Replace the variable with a secretKeyRef in the workload.`,
  }
}
