import { type Node, stringAt } from '../kube/node.ts'

/** The namespace whose accounts a subject of a binding names; '' for any other. */
export function namespaceOf(subject: Node): string {
  const name = stringAt(subject, ['name']) ?? ''
  if (stringAt(subject, ['kind']) === 'ServiceAccount') return stringAt(subject, ['namespace']) ?? ''
  const [, account, group, flux] =
    /^(?:system:serviceaccount:([^:]+):.*|system:serviceaccounts:(.+)|gotk:([^:]+):.*)$/.exec(name) ?? []
  return account ?? group ?? flux ?? ''
}
