import { giveToken } from '../actions/oauth.ts'
import type { App, World } from '../world.ts'
import type { Directory } from './directory.ts'

/** What people do in their browser. */
export function onTheWeb(world: World, { userNamed }: Directory) {
  /**
   * Signs somebody in in every browser that comes; null signs out. With `url` it opens that page of ours (an authorize
   * address) as this person alone, and resolves to where the page sends the browser.
   */
  function signIn(wanted: string | null): void
  function signIn(wanted: { login: string; url: string }): Promise<string>
  function signIn(wanted: string | null | { login: string; url: string }): Promise<string> | undefined {
    if (wanted === null || typeof wanted === 'string') {
      world.signedIn = wanted === null ? undefined : userNamed(wanted).login
      return undefined
    }
    return visit(userNamed(wanted.login).login, wanted.url)
  }

  async function visit(login: string, url: string): Promise<string> {
    const address = new URL(url, world.url)
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { 'x-login': login, 'user-agent': 'Browser' },
    })
    await response.arrayBuffer()
    const location = response.headers.get('location')
    if (location === null)
      throw new Error(`${address.pathname} answered ${response.status} without sending ${login} on`)
    return location
  }

  /** A token with which an app acts in the name of a person, as the web flow gives it. */
  function userToken(app: App, login: string): string {
    return giveToken(world, { app, user: userNamed(login) }).access_token
  }

  return { signIn, userToken }
}
