import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { BailiwickError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'
import { openApp } from '../../github/client/app.ts'
import { isAllowedAccount } from '../../process/environment.ts'
import { diagnoseDeliveries, diagnoseDesignations, diagnoseFleets } from './diagnose-reach.ts'
import { type Diagnosis, entriesOf } from './diagnosis.ts'

type Permissions = Readonly<Record<string, string | undefined>>

/** Time limit for a response from GitHub. */
const ANSWER_WITHIN_MS = 5_000
const LEVELS = ['read', 'write', 'admin']

/**
 * Checks whether GitHub accepts the private key, what of app.yml the App and each installation lack, whether webhooks arrive, and
 * whether the App is installed where settings name a fleet. `fleets`: the repositories and their setting. `isAsked`: a
 * person waits for the answer, so designations are searched for, too.
 */
export async function diagnoseGithub(
  config: Pick<Config, 'appId' | 'privateKey' | 'githubApiUrl' | 'allowedAccounts'>,
  fleets: Parameters<typeof diagnoseFleets>[1],
  isAsked: boolean,
) {
  const { appId, privateKey, githubApiUrl: baseUrl, allowedAccounts } = config
  const ours = openApp({ appId, privateKey, baseUrl, allowedAccounts, readRetries: 0, timeoutMs: ANSWER_WITHIN_MS })
  const app = ours.own()
  const { ok, bad } = entriesOf('app')
  try {
    const { data } = await app.rest.apps.getAuthenticated()
    const installations = await app.paginate(app.rest.apps.listInstallations, { per_page: 100 })
    const needed = neededPermissions()
    const slug = data?.slug ?? String(appId)
    const lacking = lackingOf(needed.permissions, (data?.permissions ?? {}) as Permissions)
    const events = needed.events.filter(event => !(data?.events ?? []).includes(event))
    const settings = `the settings page of the App ${slug} (Permissions & events)`
    // without permissions, that is the one cause
    const mayRead = LEVELS.includes(data?.permissions?.issues ?? '')
    return [
      ok(`GitHub accepts the key of the App ${slug}`),
      ...(lacking.length > 0 ? [bad('weak', `the App lacks ${lacking.join(', ')}`, `Grant it on ${settings}.`)] : []),
      ...(events.length > 0
        ? [bad('weak', `the App is not subscribed to ${events.join(', ')}`, `Subscribe it on ${settings}.`)]
        : []),
      ...installationsOf(installations as readonly Installation[], needed.permissions, allowedAccounts),
      // without any installation, that is the one cause
      ...(installations.length === 0 ? [] : await diagnoseFleets(app, fleets, baseUrl)),
      ...(isAsked && mayRead ? await diagnoseDesignations(ours, config, fleets) : []),
      ...(await diagnoseDeliveries(app)),
    ]
  } catch (error) {
    return [failed(error, appId)]
  }
}

interface Installation {
  readonly account: { readonly login?: string; readonly slug?: string } | null
  readonly html_url: string
  readonly suspended_at: string | null
  readonly permissions: Permissions
}

function installationsOf(
  all: readonly Installation[],
  needed: Permissions,
  allowed: readonly string[] | undefined,
): Diagnosis[] {
  const { ok, bad } = entriesOf('installation')
  if (all.length === 0) return [bad('weak', 'the App is not installed', 'Install it on the account of the fleet.')]
  const accounts = all.map(({ account }) => account?.login ?? account?.slug ?? '')
  const absent = (allowed ?? []).filter(name => !accounts.some(account => isAllowedAccount([name], account)))
  const strangers = absent.map(name => {
    const fix = 'Correct the name, or install the App on that account.'
    return bad('weak', `ALLOWED_ACCOUNTS names ${name}, where the App is not installed`, fix)
  })
  const found = all.map(({ account, html_url: url, suspended_at: suspended, permissions }) => {
    const name = account?.login ?? account?.slug ?? 'an account'
    const lacking = lackingOf(needed, permissions)
    if (suspended !== null) return bad('weak', `the installation of ${name} is suspended`, `Unsuspend it: ${url}`)
    if (allowed && !isAllowedAccount(allowed, name))
      return bad('weak', `${name} is not in ALLOWED_ACCOUNTS`, `Add it, or uninstall the App there: ${url}`)
    if (lacking.length === 0) return ok(`the installation of ${name} has every permission`)
    return bad('weak', `the installation of ${name} lacks ${lacking.join(', ')}`, `Accept the new permissions: ${url}`)
  })
  return [...found, ...strangers]
}

function lackingOf(needed: Permissions, granted: Permissions): string[] {
  const level = (name: string | undefined) => LEVELS.indexOf(name ?? '')
  return Object.entries(needed)
    .filter(([name, wanted]) => level(granted[name]) < level(wanted))
    .map(([name, wanted]) => `${name}: ${wanted}`)
}

function failed(error: unknown, appId: number): Diagnosis {
  const { bad } = entriesOf('app')
  if (!(error instanceof BailiwickError)) throw error
  if (error.code === 'not-permitted' || error.code === 'git-missing') {
    const fix =
      'Copy the App ID of its settings page into APP_ID, and generate a private key there. If both are right, check the clock of this machine.'
    return bad('wrong', `GitHub does not accept the key for the App ${appId}`, fix)
  }
  return bad('unknown', error.message, error.fix ?? 'Check that this machine reaches GITHUB_API_URL.')
}

/** The permissions and events in app.yml. */
function neededPermissions(): { readonly permissions: Permissions; readonly events: readonly string[] } {
  const manifest = findPackageJSON(import.meta.url)
  if (manifest === undefined) throw new Error('app.yml is in no package')
  const app = parse(readFileSync(join(dirname(manifest), 'app.yml'), 'utf8'))
  return { permissions: app.default_permissions, events: app.default_events }
}
