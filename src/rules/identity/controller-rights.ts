import { objectPart } from '../../facts/shown.ts'
import type { TenantSubject } from '../../facts/subject.ts'
import type { Named } from '../../kube/capabilities/capability.ts'
import { fieldsNaming, kindsNaming } from '../../kube/capabilities/index.ts'
import { namedBy } from '../../kube/capabilities/read-named.ts'
import { stringAt } from '../../kube/node.ts'
import { message, part, untyped } from '../../message/message.ts'
import type { Rule, RuleContext } from '../model/rule.ts'

const NAMED: readonly Named[] = ['ambient', 'file', 'privilege', 'hostPath']

/** A controller acts for a tenant with what the tenant gives it, not with what it has itself. */
export const controllerRights: Rule = {
  id: 'controller-rights',
  severity: 'high',
  profile: 'restricted',
  title: "Use of a controller's own rights",
  why: "A controller serves all tenants with one account. An object can make the controller sign in as that account, read its files or use a cluster-scoped object. The tenant then has the controller's rights: a SecretStore without `auth` reads every secret that the controller's role can read.",
  source:
    'external-secrets docs, "Multi tenancy"; prometheus-operator, arbitraryFSAccessThroughSMs; KEDA docs, "Authentication"',
  docs: "Name an account or a Secret in the tenant's namespace. A cluster-scoped object is allowed where the platform renders it for the namespace. With the profile `baseline` the finding is a warning.",
  kinds: kindsNaming(...NAMED, 'clusterObject'),
  *checkTenantObject(subject, context) {
    const { object, id, node, kind } = subject
    const who = objectPart(id.kind, id.namespace, id.name)
    for (const field of fieldsNaming(kind, ...NAMED)) {
      for (const { path } of namedBy(object.root, { ...field, form: 'everywhere' })) {
        const level = field.level ? { level: field.level } : {}
        const text = message`${who} ${untyped(field.says ?? "uses its controller's rights")}. Allowed: an account or a Secret of the tenant.`
        const fix = message`Name an account or a Secret of the tenant, or ask a fleet admin to create the object.`
        yield { node, object, path, value: field.at, message: text, fix, ...level }
      }
    }
    for (const field of fieldsNaming(kind, 'clusterObject')) {
      for (const { path, name } of namedBy(object.root, field)) {
        const taken = field.says ?? ''
        if (isGiven(subject, context, taken, name)) continue
        const text = message`${who} uses ${objectPart(taken, '', name)}, which is cluster-scoped and which the platform does not render for it. Allowed: an object that the platform renders for this namespace.`
        const fix = message`Ask a fleet admin to render the ${part('value', taken)} for this object, or use one of the namespace.`
        const level = field.level ? { level: field.level } : {}
        yield { node, object, path, value: `${taken} ${name}`, message: text, fix, ...level }
      }
    }
  },
}

/** Where an object of the whole cluster says for which one it is. */
const GIVEN_BY: Readonly<Record<string, { readonly kind: string; readonly ref: string; readonly orAnybody?: true }>> = {
  VolumeSnapshotContent: { kind: 'snapshot.storage.k8s.io/VolumeSnapshotContent', ref: 'volumeSnapshotRef' },
  VolumeGroupSnapshotContent: {
    kind: 'groupsnapshot.storage.k8s.io/VolumeGroupSnapshotContent',
    ref: 'volumeGroupSnapshotRef',
  },
  // one that names no claim is for whoever claims it first
  PersistentVolume: { kind: '/PersistentVolume', ref: 'claimRef', orAnybody: true },
}

/** Whether the platform renders the object of the whole cluster for this very one. */
function isGiven({ id, node }: TenantSubject, { index }: RuleContext, taken: string, name: string): boolean {
  const given = Object.hasOwn(GIVEN_BY, taken) ? GIVEN_BY[taken] : undefined
  const content = given && index.platformObject(node.cluster, given.kind, '', name)
  if (!content) return false
  const namespace = stringAt(content.root, ['spec', given.ref, 'namespace'])
  return namespace === id.namespace || (given.orAnybody === true && namespace === undefined)
}
