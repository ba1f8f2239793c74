import { type Html, html } from './html.ts'

/** Who acts: an account by its namespace and name, anyone else as Kubernetes calls them. */
export function accountText(user: string): Html {
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user)
  return account ? html`account <code>${account[1]}/${account[2]}</code>` : html`<code>${user}</code>`
}
