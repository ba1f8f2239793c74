import { hashOf } from '../../../facts/fingerprint.ts'
import { kindOf } from '../../../facts/kind-of.ts'
import { objectPart, quoted } from '../../../facts/shown.ts'
import { isDeclaredAccount } from '../../../fleet/config/declared-account.ts'
import { accountOf, kubeConfigOf } from '../../../fleet/model/appliers.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { isMadeAccount } from '../../../flux/installed-rbac.ts'
import { ACCOUNT_FIELD, HELM_RELEASE } from '../../../flux/kinds.ts'
import { idOf } from '../../../kube/object.ts'
import { userOfAccount } from '../../../kube/rbac/groups-of.ts'
import { codeWord, message, part } from '../../../message/message.ts'
import type { RuleContext, Violation } from '../../model/rule.ts'

/**
 * Accounts that have a role and that nothing visible makes: a role needs no ServiceAccount, so Flux applies as the account,
 * but looks for it before it deletes (finalizers of kustomize-controller and helm-controller).
 */
export function* unmadeAccounts(node: FleetNode, context: RuleContext): Iterable<Violation> {
  const { index, before, config } = context
  const { cluster, objects, kustomization, prune } = node
  const releases = objects.filter(object => kindOf(object) === HELM_RELEASE)
  for (const object of [...(prune ? [kustomization] : []), ...releases]) {
    const { kind, namespace, name } = idOf(object)
    const account = kubeConfigOf(object) ? undefined : accountOf(object, index.cluster(cluster)?.lockdown)
    // Kubernetes makes `default` in every namespace
    if (!account || account === 'default' || isMadeAccount(namespace, account)) continue
    const isMade = (one: typeof index) => one.versionsOf(cluster, '/ServiceAccount', namespace, account).length > 0
    // an account that is taken away is the rule identity-object-tamper's
    if (isMade(index) || (before && isMade(before))) continue
    const ofTenant = index.ownerOf(cluster, namespace) !== undefined
    if (isDeclaredAccount(config, { cluster, namespace, name: account, ofTenant })) continue
    if (!index.holdsRoles(cluster, userOfAccount(namespace, account))) continue
    yield {
      node,
      object,
      path: ACCOUNT_FIELD,
      level: 'warning',
      severity: 'low',
      value: `unmade ${account}`,
      cause: hashOf(['unmade', namespace, account]),
      message: message`${objectPart(kind, namespace, name)}: the fleet does not render service account ${quoted('object', account)}. Allowed: an account that the fleet renders, or lists under ${codeWord('accounts')} in ${codeWord('.github/bailiwick.yaml')}. Without the account, Flux deletes nothing when the ${part('value', kind)} is deleted.`,
      fix: message`Render ServiceAccount ${part('object', `${namespace}/${account}`)}, or set the field to an account that exists.`,
    }
  }
}
