import { shown, shownObject } from '../../facts/shown.ts'
import { sourceKinds } from '../../facts/source-fields.ts'
import { stringAt } from '../../kube/node.ts'
import type { Rule } from '../model/rule.ts'

const FIELD = ['spec', 'proxySecretRef', 'name']

/** A source goes through no proxy but one that the platform gave. */
export const sourceProxy: Rule = {
  id: 'source-proxy',
  severity: 'high',
  profile: 'restricted',
  title: "Sources go through no proxy of the tenant's own",
  why: 'A proxy sees every request of the source and the credentials in it, and with a certificate authority of its own it answers what it likes.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Proxy secret reference"',
  docs: 'Leave `spec.proxySecretRef` out, or use a Secret that the platform renders into the namespace. In the profile `baseline` it is only a warning.',
  kinds: sourceKinds,
  *checkTenantObject({ object, id, node }, { index }) {
    const name = stringAt(object.root, FIELD)
    if (!name) return
    if (index.platformObject(node.cluster, '/Secret', id.namespace, name) !== undefined) return
    yield {
      node,
      object,
      path: FIELD,
      value: name,
      message: `${shownObject(id.kind, id.namespace, id.name)} is fetched through the proxy of Secret ${shown(name)}, which the platform does not give. Flux accepts it.`,
      fix: 'Remove spec.proxySecretRef.',
    }
  },
}
