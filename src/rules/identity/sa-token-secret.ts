import { objectPart, quoted } from '../../facts/shown.ts'
import { stringAt } from '../../kube/node.ts'
import { message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'
import { isOwnReconciler } from './support/is-own-reconciler.ts'

const ACCOUNT = ['metadata', 'annotations', 'kubernetes.io/service-account.name']

/** A token that never expires, written where everybody who reads Secrets of the namespace finds it. */
export const saTokenSecret: Rule = {
  id: 'sa-token-secret',
  severity: 'high',
  title: 'Long-lived service account token',
  why: 'Kubernetes writes a service account token into a Secret of this type. It does not expire and is not bound to a pod. A reader of the Secret can act as the account from anywhere until the Secret is deleted.',
  source: 'https://kubernetes.io/docs/concepts/security/service-accounts/#get-a-token',
  docs: "Request short-lived tokens (`kubectl create token`, a projected volume). Ask a fleet admin to render a long-lived token where one is required, such as for Capsule's proxy.",
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
      message: message`${objectPart(id.kind, id.namespace, id.name)} requests a token of account ${quoted('object', account)} that does not expire${reconciles ? ', and Flux deploys the namespace as that account' : ''}. Allowed: short-lived tokens of pods.`,
      fix: message`Remove the Secret, and use a projected service account token.`,
      ...(reconciles ? { severity: 'critical' as const } : {}),
    }
  },
}
