import type { User } from '../world.ts'
import type { Call, Reply } from './route.ts'

/** Who looks at a page of github.com: the header `x-login`, or whom the test signed in in every browser. */
export function visitor(call: Call): User | undefined {
  const login = call.login ?? call.world.signedIn
  return login === undefined ? undefined : call.world.users.get(login.toLowerCase())
}

/** What somebody sees who is not signed in. */
export function signInPage(why: string): Reply {
  const text = why.replaceAll(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
  const body = `<!doctype html><title>Sign in to GitHub</title><h1>Sign in to GitHub ${text}</h1>`
  return { status: 200, body, headers: { 'content-type': 'text/html; charset=utf-8' } }
}
