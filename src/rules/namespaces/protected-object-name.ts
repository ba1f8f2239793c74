import { at, type Node, stringAt } from '../../kube/node.ts'
import type { FleetIndex } from '../index/fleet-index.ts'
import type { Naming } from '../index/naming.ts'
import type { Rule, RuleContext, Subject } from '../rule.ts'
import { shownObject } from '../shown.ts'

/** Objects that the platform or Kubernetes puts into namespaces, by kind. */
const KNOWN: ReadonlyMap<string, readonly string[]> = new Map([
  [
    '/ConfigMap',
    [
      'flux-runtime-info',
      'kube-root-ca.crt',
      'openshift-service-ca.crt',
      'istio-ca-root-cert',
      'linkerd-identity-trust-roots',
    ],
  ],
  ['/Secret', []],
])

/** Kinds whose references the platform writes into a tenant's namespace. */
const REFERRING = [
  'kustomize.toolkit.fluxcd.io/Kustomization',
  'helm.toolkit.fluxcd.io/HelmRelease',
  'source.toolkit.fluxcd.io/GitRepository',
  'source.toolkit.fluxcd.io/OCIRepository',
  'source.toolkit.fluxcd.io/HelmRepository',
  'source.toolkit.fluxcd.io/Bucket',
  'image.toolkit.fluxcd.io/ImageRepository',
  'notification.toolkit.fluxcd.io/Provider',
  'notification.toolkit.fluxcd.io/Receiver',
]

/** Values and credentials that the platform's objects read are not for tenants to write. */
export const protectedObjectName: Rule = {
  id: 'protected-object-name',
  severity: 'high',
  title: 'Values and credentials of the platform are not overwritten',
  why: 'A tenant who ships a ConfigMap or Secret by the name that the platform’s Kustomization, source or release reads in this namespace gives the platform its own variables, credentials or cluster.',
  source: 'd1-fleet: flux-runtime-info',
  docs: 'Choose another name. What the platform’s objects read in the tenant’s namespace is written by the platform.',
  kinds: [...KNOWN.keys()],
  *checkTenantObject(subject, context) {
    const { object, id, kind, node } = subject
    if (!context.index.owns(node.cluster, node.tenant, id.namespace)) return
    const reader = KNOWN.get(kind)!.includes(id.name) ? 'the platform or Kubernetes' : readBy(subject, context)
    if (reader === undefined) return
    yield {
      node,
      object,
      path: ['metadata', 'name'],
      value: id.name,
      message: `${shownObject(id.kind, id.namespace, id.name)} has the name of one that ${reader} reads or writes in this namespace; the tenant's version would take its place. Allowed is another name. Flux and Kubernetes would let it through.`,
      fix: `Rename the ${id.kind}.`,
    }
  },
}

function readBy({ id, node }: Subject, { index, config }: RuleContext): string | undefined {
  const declared = config.substituteFrom.some(
    one =>
      one.kind === id.kind &&
      one.name === id.name &&
      one.namespace === id.namespace &&
      (one.cluster ?? node.cluster) === node.cluster,
  )
  return declared ? "the fleet's file" : readByPlatform(id, node.cluster, index)
}

function readByPlatform(id: Subject['id'], cluster: string, index: FleetIndex): string | undefined {
  for (const kind of REFERRING) {
    const [first] = index.found(cluster, kind, id.namespace, NAMED, textOf(id.kind, id.name))
    if (!first) continue
    const name = stringAt(first.object.root, ['metadata', 'name']) ?? ''
    return `the platform's ${shownObject(kind.split('/')[1] ?? '', id.namespace, name)}`
  }
  return undefined
}

/** What the spec of an object of the platform names: `secretRef: {name}`, `configMapRef: {name}`, or `{kind, name}` of values. */
const NAMED: Naming = {
  id: 'platform names',
  of: ({ node, object }) => (node.tenant === undefined ? namesIn(at(object.root, ['spec'])) : []),
}

const textOf = (kind: string, name: string) => `${kind} ${name}`

function* namesIn(node: Node | undefined): Generator<string> {
  if (!node || node.type === 'scalar') return
  if (node.type === 'list') {
    for (const item of node.items) yield* namesIn(item)
    return
  }
  const [kind, name] = [stringAt(node, ['kind']), stringAt(node, ['name'])]
  if (kind !== undefined && name !== undefined) yield textOf(kind, name)
  for (const [key, { value }] of node.fields) {
    const field = key.toLowerCase()
    const referred = stringAt(value, ['name'])
    for (const one of ['Secret', 'ConfigMap']) {
      if (referred !== undefined && field.endsWith(`${one.toLowerCase()}ref`)) yield textOf(one, referred)
    }
    yield* namesIn(value)
  }
}
