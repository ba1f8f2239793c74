import { GIT_REPOSITORY, HELM_RELEASE, KUSTOMIZATION } from '../../flux/kinds.ts'
import type { Rule } from '../model/rule.ts'
import { createdByHelm } from './support/created-by-helm.ts'
import { forbiddenCluster } from './support/forbidden-cluster.ts'
import { givenTwice } from './support/given-twice.ts'
import { movedNamespace } from './support/moved-namespace.ts'
import { writtenNamespace } from './support/written-namespace.ts'

/** Whose a namespace is, the platform says, or Capsule where the tenant may create it: nobody takes one. */
export const namespaceOwnership: Rule = {
  id: 'namespace-ownership',
  severity: 'critical',
  title: 'Namespace claimed by a tenant',
  why: 'The Namespace object, its tenant label and its ownerReferences decide which tenant owns the namespace. A tenant that writes them can take a namespace of another tenant or of Kubernetes. It can also leave its own limits.',
  source: 'CVE-2024-39690, CVE-2025-55205, CVE-2022-46167 of Capsule; flux create tenant',
  docs: 'Render the Namespace with `toolkit.fluxcd.io/tenant` in the fleet repository. With Capsule, an account that owns a Tenant may create unowned Namespaces, without ownerReferences and with its own tenant label. To move a namespace to another tenant, waive the rule for that Namespace or merge with an override.',
  kinds: [
    '/Namespace',
    '/ServiceAccount',
    'rbac.authorization.k8s.io/RoleBinding',
    HELM_RELEASE,
    KUSTOMIZATION,
    GIT_REPOSITORY,
  ],
  checkNode: forbiddenCluster,
  *checkObject(subject, context) {
    const { kind, node } = subject
    if (kind === HELM_RELEASE) yield* createdByHelm(subject, context)
    if (node.tenant === undefined) {
      if (kind === '/Namespace') yield* movedNamespace(subject, context)
      else yield* givenTwice(subject, context)
    } else if (kind === '/Namespace') yield* writtenNamespace(subject, node.tenant, context)
  },
}
