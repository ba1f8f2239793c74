import { exchange, giveCode, isCallback } from '../actions/oauth.ts'
import { requiredText } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { type Call, noContent, onWeb, type Reply, type Route } from '../http/route.ts'
import { signInPage, visitor } from '../http/visitor.ts'
import type { App } from '../world.ts'

/** login/oauth: a person lets an app act in their name: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app */
export function oauthRoutes(): Route[] {
  return [
    onWeb('GET', '/login/oauth/authorize', authorize),
    onWeb('POST', '/login/oauth/access_token', call => tokenReply(call, exchange(call.world, call.body))),
    onWeb('DELETE', '/applications/{client_id}/token', call => {
      const app = appOfBasic(call)
      const token = requiredText(call.body, 'access_token')
      const known = call.world.tokens.get(token)
      if (known?.actor.kind !== 'user' || known.actor.app !== app) throw notFound()
      call.world.tokens.delete(token)
      return noContent()
    }),
  ]
}

function authorize(call: Call): Reply {
  const { query, world } = call
  const app = [...world.apps.values()].find(each => each.clientId === query.get('client_id'))
  if (!app) throw notFound()
  const redirectUri = query.get('redirect_uri') ?? undefined
  const to = redirectUri ?? app.callbackUrls[0]
  if (to === undefined) throw new HttpError(404, 'The app has no callback URL')
  const state = query.get('state')
  if (!isCallback(app, to)) {
    const error_description = 'The redirect_uri MUST match the registered callback URL for this application.'
    return redirect(app.callbackUrls[0]!, { error: 'redirect_uri_mismatch', error_description, state })
  }
  const user = visitor(call)
  if (!user) return signInPage(`to continue to ${app.name}`)
  const method = query.get('code_challenge_method')
  const challenge = query.get('code_challenge') ?? undefined
  if (challenge !== undefined && method !== 'S256') {
    return redirect(to, { error: 'invalid_request', error_description: 'code_challenge_method must be S256', state })
  }
  return redirect(to, { code: giveCode(world, { app, user, redirectUri, challenge }), state })
}

function redirect(to: string, query: Readonly<Record<string, string | null>>): Reply {
  const location = new URL(to)
  for (const [name, value] of Object.entries(query)) if (value !== null) location.searchParams.set(name, value)
  return { status: 302, headers: { location: location.href } }
}

/** JSON for who asks for it, a form otherwise. */
function tokenReply(call: Call, answer: object): Reply {
  if (call.accept.includes('json')) return { status: 200, body: answer }
  const form = new URLSearchParams(
    Object.entries(answer).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
  return { status: 200, body: form.toString(), headers }
}

function appOfBasic(call: Call): App {
  const basic = /^basic\s+(\S+)$/i.exec(call.authorization ?? '')?.[1] ?? ''
  const [id, secret] = Buffer.from(basic, 'base64').toString().split(':')
  const app = [...call.world.apps.values()].find(each => each.clientId === id && each.clientSecret === secret)
  if (!app || call.params.client_id !== app.clientId) throw notFound()
  return app
}
