import { type ClientSettings, clientClass } from './client-class.ts'
import { statusOf } from './github-error.ts'
import type { Octokit } from './octokit.ts'

interface TokenSource {
  /** The token to use now. */
  token(): Promise<string>
  /** GitHub does not accept it: the next one has to be another. */
  refused(token: string): void
}

interface RequestOptions {
  readonly headers: object
}

/** A client that speaks with tokens that somebody else made, and knows nothing of the App. */
export function openTokenClient(settings: ClientSettings, { token, refused }: TokenSource): Octokit {
  const Client = clientClass(settings)
  const send = async <O extends RequestOptions, R>(request: (options: O) => Promise<R>, options: O, value: string) =>
    request({ ...options, headers: { ...options.headers, authorization: `token ${value}` } })
  const hook = async <O extends RequestOptions, R>(request: (options: O) => Promise<R>, options: O): Promise<R> => {
    const first = await token()
    try {
      return await send(request, options, first)
    } catch (error) {
      if (statusOf(error) !== 401) throw error
      refused(first)
      return await send(request, options, await token())
    }
  }
  return new Client({ authStrategy: () => Object.assign(token, { hook }) })
}
