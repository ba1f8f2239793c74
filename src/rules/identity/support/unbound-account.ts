import { objectPart, quoted } from '../../../facts/shown.ts'
import { isBlank } from '../../../fleet/model/read-spec.ts'
import { CONTROLLER } from '../../../fleet/tenancy/identity.ts'
import { INSTALLED_ACCOUNTS } from '../../../flux/installed-rbac.ts'
import { ACCOUNT_FIELD, ROOT_NAMESPACE } from '../../../flux/kinds.ts'
import { at, originAt } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { idOf } from '../../../kube/object.ts'
import { accountOf, userOfAccount } from '../../../kube/rbac/groups-of.ts'
import { probably } from '../../../message/closest.ts'
import { codeWord, type Message, message, part } from '../../../message/message.ts'
import type { Origin } from '../../../origin.ts'
import type { RuleContext } from '../../model/rule.ts'
import type { AccountPlace } from './account-rights.ts'

/** An account that no visible binding gives a role anywhere: the name is the cause, not the objects. */
interface UnboundAccount {
  /** Where it is named, or would be; undefined where that is as it was before the change. */
  readonly origin: Origin | undefined
  readonly text: Message
  /** Absent where no other account was probably meant. */
  readonly fix?: Message
  /** All of Flux on the cluster stops. */
  readonly isRoot: boolean
}

/** What there is to say of the account of a refused object, where it has no role at all. */
export function unboundAccount(
  { index, before }: Pick<RuleContext, 'index' | 'before'>,
  { node, user }: AccountPlace,
  object: KubeObject,
): UnboundAccount | undefined {
  if (index.holdsRoles(node.cluster, user)) return undefined
  const isNodes = user === node.identity.user
  const applier = isNodes ? node.kustomization : object
  const { kind, namespace, name } = idOf(applier)
  const isDefault = isBlank(at(applier.root, ACCOUNT_FIELD))
  const what = isDefault
    ? message`${objectPart(kind, namespace, name)} names no service account, so Flux uses the default account, to which no visible binding gives a role.`
    : message`No visible binding gives the account a role.`
  const was = isNodes ? before?.node(node.key)?.identity.user : undefined
  const meant = meantAccount(index, node.cluster, user, isDefault ? (was ?? CONTROLLER.user) : undefined)
  const origin = originAt(applier.root, ACCOUNT_FIELD)
  const better = meant ?? onlyAccount(index, node.cluster, user)
  const isRoot = isNodes && node.parent === undefined
  return {
    origin: was === user ? undefined : origin,
    text: message`${what}${meant && !isDefault ? message` Did you mean ${quoted('object', meant)}?` : ''}${isRoot ? ' Flux then applies nothing on the cluster.' : ''}`,
    ...(better
      ? {
          fix: message`Set ${codeWord('serviceAccountName')} to ${quoted('object', better)} at ${part('path', origin.file)}:${origin.line}.`,
        }
      : {}),
    isRoot,
  }
}

/** The account of the same namespace, with a role, of which the name is probably a misspelling. `was`: one that was there, or should be. */
function meantAccount(
  index: RuleContext['index'],
  cluster: string,
  user: string,
  was: string | undefined,
): string | undefined {
  const account = accountOf(user)
  if (account === undefined) return undefined
  const names = accountsWithRoles(index, cluster, account.namespace)
  const [only, ...others] = names
  if (was === undefined) return probably(account.name, names)
  return names.find(name => userOfAccount(account.namespace, name) === was) ?? (others.length === 0 ? only : undefined)
}

/** The one account with a role in the namespace of an account that the fleet does not render. */
function onlyAccount(index: RuleContext['index'], cluster: string, user: string): string | undefined {
  const account = accountOf(user)
  if (!account || index.versionsOf(cluster, '/ServiceAccount', account.namespace, account.name).length > 0)
    return undefined
  const [only, ...others] = accountsWithRoles(index, cluster, account.namespace)
  return others.length === 0 ? only : undefined
}

function accountsWithRoles(index: RuleContext['index'], cluster: string, namespace: string): string[] {
  const rendered = index.rendered(cluster, '/ServiceAccount', namespace).map(({ object }) => idOf(object).name)
  return [...rendered, ...(namespace === ROOT_NAMESPACE ? INSTALLED_ACCOUNTS : [])].filter(name =>
    index.holdsRoles(cluster, userOfAccount(namespace, name)),
  )
}
