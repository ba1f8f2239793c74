import { shown, shownObject } from '../../facts/shown.ts'
import { stringAt } from '../../kube/node.ts'
import type { Rule } from '../model/rule.ts'
import { isOwnReconciler } from './support/is-own-reconciler.ts'

const ACCOUNT = ['metadata', 'annotations', 'kubernetes.io/service-account.name']

/** A token that never expires, written where everybody who reads Secrets of the namespace finds it. */
export const saTokenSecret: Rule = {
  id: 'sa-token-secret',
  severity: 'high',
  title: 'Tenants make no long-lived tokens',
  why: 'Kubernetes fills a Secret of this type with a token of the account that does not expire and is not bound to a pod: who reads it once acts as the account until somebody deletes the Secret, from anywhere.',
  source: 'https://kubernetes.io/docs/concepts/security/service-accounts/#get-a-token',
  docs: "Let what needs a token ask for one (`kubectl create token`, a projected volume). What needs a lasting one, such as Capsule's proxy, gets it from the platform.",
  kinds: ['/Secret'],
  *checkTenantObject({ object, node, id }, { index, config }) {
    if (stringAt(object.root, ['type']) !== 'kubernetes.io/service-account-token') return
    const account = stringAt(object.root, ACCOUNT) ?? ''
    const reconciles = account !== '' && isOwnReconciler(index, config, node.cluster, id.namespace, account)
    yield {
      node,
      object,
      path: account === '' ? ['type'] : ACCOUNT,
      value: account,
      message: `${shownObject(id.kind, id.namespace, id.name)} makes Kubernetes write a token of account ${shown(account)} that does not expire${reconciles ? '; Flux deploys the namespace as that account' : ''}. Allowed are tokens that pods ask for.`,
      fix: 'Remove the Secret and use a projected token.',
      ...(reconciles ? { severity: 'critical' as const } : {}),
    }
  },
}
