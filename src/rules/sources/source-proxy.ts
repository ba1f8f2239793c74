import { objectPart, quoted } from '../../facts/shown.ts'
import { sourceKinds } from '../../facts/source-fields.ts'
import { stringAt } from '../../kube/node.ts'
import { message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

const FIELD = ['spec', 'proxySecretRef', 'name']

/** A source goes through no proxy but one that the platform gave. */
export const sourceProxy: Rule = {
  id: 'source-proxy',
  severity: 'high',
  profile: 'restricted',
  title: "Tenant's proxy for a source",
  why: 'A proxy sees every request of the source and its credentials. With its own certificate authority, it can replace the content.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Proxy secret reference"',
  docs: 'Remove `spec.proxySecretRef`, or name a Secret that the platform renders into the namespace. In the profile `baseline` the finding is a warning.',
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
      message: message`${objectPart(id.kind, id.namespace, id.name)} is fetched through the proxy of Secret ${quoted('object', name)}, which the platform does not render. Allowed: no proxy, or a Secret that the platform renders. Flux accepts it.`,
      fix: message`Remove spec.proxySecretRef.`,
      edit: { remove: true },
    }
  },
}
