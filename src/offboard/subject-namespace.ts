import { type Node, stringAt } from '../kube/node.ts'

/** The namespace of the accounts that a binding's subject names; '' for any other subject. */
export function namespaceOf(subject: Node): string {
  const name = stringAt(subject, ['name']) ?? ''
  if (stringAt(subject, ['kind']) === 'ServiceAccount') return stringAt(subject, ['namespace']) ?? ''
  const [, account, group, flux] =
    /^(?:system:serviceaccount:([^:]+):.*|system:serviceaccounts:(.+)|gotk:([^:]+):.*)$/.exec(name) ?? []
  return account ?? group ?? flux ?? ''
}
