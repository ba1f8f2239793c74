import { objectPart, quoted } from '../../facts/shown.ts'
import { at, canonical } from '../../kube/node.ts'
import { pointer } from '../../kube/pointer.ts'
import { listed, type Message, message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'
import { CONTROLLED_KINDS, type TenantControl, tenantControls } from './support/tenant-controls.ts'

/** What a policy depends on is the platform's to write. */
export const policyTenantControlled: Rule = {
  id: 'policy-tenant-controlled',
  severity: 'medium',
  level: 'warning',
  title: 'Policy that a tenant can escape or loosen',
  why: 'A tenant can avoid a policy that selects objects by labels that tenants set. The same is true of parameters that tenants write.',
  source: 'https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#parameter-resources',
  docs: 'Select tenants by labels of their Namespaces, and keep parameters in a namespace of the platform: `spec.paramRef.namespace` of a binding. Without it, the API server reads the parameters from the namespace of each object. The rule lists parameters that accounts of tenants can write. It lists selectors and exclusions by labels, annotations or names of objects, and conditions that read them. It also lists settings of Kyverno that accept PolicyExceptions where tenants may write them (`--exceptionNamespace`). `bailiwick audit` lists them for the policies that stand, and selectors of Namespaces whose labels a tenant may change.',
  kinds: CONTROLLED_KINDS,
  *checkObject({ node, object, id, kind }, { index }) {
    if (node.tenant !== undefined) return
    for (const control of tenantControls(index, node.cluster, kind, object)) {
      const { path, how, tenants } = control
      // that a tenant writes a Namespace is a violation of namespace-ownership; the audit names who has the right
      if (how === 'namespace labels') continue
      const written = at(object.root, path)
      yield {
        node,
        object,
        path,
        value: `${how} ${written ? canonical(written) : ''}`,
        message: message`${objectPart(id.kind, id.namespace, id.name)}: ${quoted('field', pointer(path))} ${EFFECTS[how]}: ${listed(tenants.map(one => quoted('tenant', one)))}. Allowed: what only the platform writes. The API server accepts it.`,
        fix: FIXES[how],
      }
    }
  },
}

const EFFECTS: Readonly<Record<Exclude<TenantControl['how'], 'namespace labels'>, Message>> = {
  parameters: message`names parameters that these tenants can write, and so loosen the policy`,
  labels: message`selects by labels of the object, by which these tenants escape the policy`,
  annotations: message`selects by annotations of the object, by which these tenants escape the policy`,
  names: message`selects by the name of the object, by which these tenants escape the policy`,
  condition: message`reads labels or annotations of the object, by which these tenants escape the policy`,
  exceptions: message`lets Kyverno read PolicyExceptions that these tenants can write, and so escape its policies`,
}

const SELECT = message`Select by a label of the Namespace that only the platform sets, or by the name of the namespace.`
const FIXES: Readonly<Record<Exclude<TenantControl['how'], 'namespace labels'>, Message>> = {
  parameters: message`Set spec.paramRef.namespace to a namespace of the platform.`,
  labels: SELECT,
  annotations: SELECT,
  names: SELECT,
  condition: SELECT,
  exceptions: message`Set the namespace of exceptions to one in which only the platform may write PolicyExceptions.`,
}
