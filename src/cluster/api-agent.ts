import { hash } from 'node:crypto'
import { Agent, type RequestOptions } from 'node:https'
import type { RequestCredentials } from './credentials.ts'

/** What a request says of the credentials of its connection. */
export interface WithCredentials {
  readonly credentials: RequestCredentials['tls']
}

/**
 * Kept connections to one API server; those of different credentials are never mixed. Node's own agent names connections
 * by their whole certificates, and makes that name three times for each request; here it is made once for each credentials.
 */
export class ApiAgent extends Agent {
  readonly #names = new WeakMap<RequestCredentials['tls'], string>()

  override getName(options: RequestOptions & Partial<WithCredentials>): string {
    const { credentials } = options
    if (credentials === undefined) return super.getName(options)
    const known = this.#names.get(credentials)
    if (known !== undefined) return known
    // by content: the same credentials, read again, go on with the same connections
    const name = hash('sha256', super.getName(options))
    this.#names.set(credentials, name)
    return name
  }
}
