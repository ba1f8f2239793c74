import { BailiwickError } from '../errors.ts'
import { isNamespaceName, isSubdomain } from '../kube/names.ts'
import { accountOf, userOfAccount } from '../kube/rbac/groups-of.ts'

/** What the fleet knows of names, to tell an account from a user. */
interface KnownNames {
  /** Whether the fleet renders this namespace, or anything in it. */
  hasNamespace(namespace: string): boolean
  /** Whether a binding names this user. */
  hasUser(name: string): boolean
}

/**
 * The user that `--as` means: `system:serviceaccount:ns:name`, `ns/name`, or any user. `ns:name` is an account where the
 * fleet has that namespace, else a user. Throws `usage` where it may be both, or no account can be called so.
 */
export function identityArgument(text: string, known: KnownNames): string {
  if (text.startsWith('system:serviceaccount:')) {
    if (accountOf(text)) return text
    throw usage(`${JSON.stringify(text)} is not an account`, 'Write system:serviceaccount:NAMESPACE:NAME.')
  }
  const slash = text.split('/')
  if (slash.length === 2) {
    const [namespace = '', name = ''] = slash
    if (isNamespaceName(namespace) && isSubdomain(name)) return userOfAccount(namespace, name)
  }
  const [namespace = '', name = '', ...more] = text.split(':')
  const account = more.length === 0 && isNamespaceName(namespace) && isSubdomain(name) && known.hasNamespace(namespace)
  if (!account) return text
  if (!known.hasUser(text)) return userOfAccount(namespace, name)
  throw usage(
    `${JSON.stringify(text)} is a user whom a binding names, and could be an account`,
    `Write ${namespace}/${name} for the account.`,
  )
}

function usage(message: string, fix: string): BailiwickError {
  return new BailiwickError('usage', message, { fix })
}
