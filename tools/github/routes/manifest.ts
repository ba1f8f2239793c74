import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { AppOptions } from '../accounts.ts'
import { HttpError, invalid, notFound } from '../http/http-error.ts'
import { type Call, created, onWeb, type Reply, type Route } from '../http/route.ts'
import { signInPage, visitor } from '../http/visitor.ts'
import { appJson } from '../json/app.ts'
import type { App, Permissions, User } from '../world.ts'

type Json = Readonly<Record<string, unknown>>
type AddApp = (options: AppOptions) => App

const HOUR = 3_600_000
const MOST_NAME = 34

/**
 * The manifest flow: a form makes an app and gives a code, which is exchanged once, within an hour, for its secrets:
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */
export function manifestRoutes(addApp: AddApp): Route[] {
  const codes = new Map<string, { readonly app: App; readonly expires: number }>()

  function register(call: Call): Reply {
    const user = visitor(call)
    if (!user) return signInPage('to register an app')
    const owner = ownerOf(call, user)
    const manifest = parse(call.body.manifest)
    const app = addApp(wanted(call, manifest, owner))
    const code = randomBytes(20).toString('hex')
    codes.set(code, { app, expires: Date.now() + HOUR })
    const location = new URL(String(manifest.redirect_url))
    location.searchParams.set('code', code)
    const state = call.query.get('state') ?? call.body.state
    if (typeof state === 'string') location.searchParams.set('state', state)
    return { status: 302, headers: { location: location.href } }
  }

  return [
    onWeb('POST', '/settings/apps/new', register),
    onWeb('POST', '/organizations/{org}/settings/apps/new', register),
    onWeb('POST', '/app-manifests/{code}/conversions', call => {
      const found = codes.get(call.params.code ?? '')
      codes.delete(call.params.code ?? '')
      if (!found || found.expires < Date.now()) throw notFound()
      const { app } = found
      return created({
        ...appJson(call.world, app),
        ...{ client_id: app.clientId, client_secret: app.clientSecret, webhook_secret: app.webhookSecret },
        pem: app.privateKey,
      })
    }),
  ]
}

function ownerOf(call: Call, user: User): User {
  const { org } = call.params
  if (org === undefined) return user
  const organization = call.world.users.get(org.toLowerCase())
  if (organization?.type !== 'Organization') throw notFound()
  if (call.world.members.get(organization.login)?.get(user.login) !== 'admin') throw notFound()
  return organization
}

function parse(given: unknown): Json {
  try {
    return JSON.parse(String(given)) as Json
  } catch {
    throw new HttpError(422, 'Error Manifest is not valid JSON')
  }
}

function wanted(call: Call, manifest: Json, owner: User): AppOptions {
  const { name, url, redirect_url, hook_attributes, default_permissions, default_events, callback_urls } = manifest
  if (typeof name !== 'string' || name === '' || name.length > MOST_NAME) throw invalid('Manifest', 'name')
  if (typeof url !== 'string' || URL.parse(url) === null) throw invalid('Manifest', 'url')
  if (URL.parse(String(redirect_url)) === null) throw invalid('Manifest', 'redirect_url')
  const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  if ([...call.world.apps.values()].some(app => app.slug === slug)) {
    throw invalid('Manifest', 'name', 'Name has already been taken')
  }
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const hook = (hook_attributes as { url?: unknown } | undefined)?.url
  return {
    ...{ slug, name, owner, externalUrl: url, privateKey },
    permissions: (default_permissions ?? {}) as Permissions,
    events: Array.isArray(default_events) ? default_events.map(String) : [],
    callbackUrls: Array.isArray(callback_urls) ? callback_urls.map(String) : [],
    ...(typeof hook === 'string' ? { webhookUrl: hook } : {}),
  }
}
