import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { parse } from 'yaml'
import { BailiwickError } from '../../base/errors.ts'
import { githubApiUrl } from '../../config.ts'
import { convertManifest } from '../../github/client/open-oauth.ts'
import type { Environment } from '../../process/environment.ts'
import { isExampleAccount, isExampleHost, webHost } from '../../process/public-host.ts'
import { readGiven } from '../cli/given.ts'
import type { Usage } from '../cli/usage.ts'
import { type SetupSite, serveSetup } from './serve-setup.ts'

/** What `npm run setup -- ...` takes. */
export const SETUP: Usage = {
  name: 'setup',
  seeHelp: 'Run npm run setup -- --help.',
  usage: [
    ['[--url URL]', 'public https:// address of the web process (default: the one in app.yml)'],
    ['[--organization ORG]', 'organization that owns the App (default: your account)'],
    ['[--gate-only]', 'the App reads your repositories and writes nothing to them: no onboarding, no fixes, no trail'],
    ['[--name NAME]', 'name of the App on GitHub, 1 to 34 characters'],
    ['[--env FILE]', 'new file for the settings (default: .env)'],
    ['[--key FILE]', 'new file for the private key (default: bailiwick.private-key.pem)'],
    ['[--port N]', 'port of the page on this machine (default: a free one)'],
    ['[--force]', 'replace existing files'],
    ['[--remove]', 'in place of a registration: list what the App of --env left on GitHub'],
    ['[--yes]', 'with --remove: remove it, and uninstall the App'],
  ],
}

interface SetupIo {
  readonly env: Environment
  readonly say: (line: string) => void
}

/**
 * Registers the App by GitHub's manifest flow: serves a page on this machine, and writes GitHub's response into a
 * settings file and a key file. Throws `config` in production and for an existing file, and `usage`.
 */
export async function runSetup(args: readonly string[], { env, say }: SetupIo): Promise<SetupSite> {
  if (env.NODE_ENV === 'production') {
    throw new BailiwickError('config', 'setup does not run in production', {
      fix: 'Run the setup on your own machine, and copy the settings to the server as secrets.',
    })
  }
  const { organization, force, files, port, choice } = readArgs(args)
  prepareFiles({ ...files, force })
  const apiUrl = githubApiUrl(env)
  const appYml = readFileSync(join(packageFolder(), 'app.yml'), 'utf8')
  const { publicUrl } = readManifest(appYml, { ...choice, redirectUrl: '' })
  const below = organization === undefined ? '' : `/organizations/${organization}`
  const site = await serveSetup({
    port,
    newAppUrl: `${webHost(apiUrl)}${below}/settings/apps/new`,
    manifest: redirectUrl => readManifest(appYml, { ...choice, redirectUrl }).manifest,
    take: async code => {
      const app = await convertManifest(apiUrl, code)
      writeSettings({ ...files, force }, app.privateKey, {
        APP_ID: String(app.id),
        WEBHOOK_SECRET: app.webhookSecret,
        CLIENT_ID: app.clientId,
        CLIENT_SECRET: app.clientSecret,
        PUBLIC_URL: publicUrl,
        ...(env.GITHUB_API_URL === undefined ? {} : { GITHUB_API_URL: apiUrl }),
        ...(choice.gateOnly ? { TRAIL: 'off' } : {}),
      })
      const install = `${app.url}/installations/new`
      const steps = [
        `The settings are in ${files.env} and the key is in ${files.key}. Keep both secret.`,
        `1. Install the App on the fleet and on the tenants' repositories: ${install}`,
        `2. Start it on the host of ${publicUrl}: npm start`,
        '3. Read the first report, an issue in your fleet repository. It explains how to require the check.',
        choice.gateOnly
          ? `For onboarding, fixes and the trail, grant "Contents: write" (${app.url}), and remove TRAIL=off from the settings.`
          : 'Bailiwick writes each decision to the branch bailiwick/trail of the fleet repository. TRAIL=off in the settings turns that off.',
        `Optional: with the permission "Administration: write" (${app.url}) the command /bailiwick gate requires the check for you.`,
      ]
      for (const line of steps) say(line)
      return install
    },
  })
  say(`Open ${site.url} in a browser on this machine.`)
  return site
}

/** Where package.json and app.yml are: the checkout, or the package that holds the bundle. */
function packageFolder(): string {
  const manifest = findPackageJSON(import.meta.url)
  if (manifest === undefined) throw new Error('the setup is in no package')
  return dirname(manifest)
}

function readArgs(args: readonly string[]) {
  const { one, has, wrong } = readGiven(SETUP, args)
  const [organization, url, name] = ['organization', 'url', 'name'].map(one)
  const [env = '.env', key = 'bailiwick.private-key.pem', port = '0'] = ['env', 'key', 'port'].map(one)
  if (organization !== undefined && !/^[A-Za-z\d][A-Za-z\d_-]{0,99}$/.test(organization)) {
    throw wrong('--organization is not the name of an organization')
  }
  if (organization !== undefined && isExampleAccount(organization)) {
    throw wrong(`--organization: ${organization} stands for the name of your organization`)
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw wrong('--port is not a port')
  if (name !== undefined && !/^[^\p{C}]{1,34}$/u.test(name)) throw wrong('--name has 1 to 34 characters')
  if (url !== undefined && !isHttps(url)) throw wrong('--url is not an address that begins with https://')
  if (url !== undefined && isExampleHost(new URL(url).hostname)) {
    throw new BailiwickError('usage', `--url: ${JSON.stringify(url)} is an example, which GitHub cannot reach`, {
      fix: 'Use the public https:// address of your web process.',
    })
  }
  return {
    organization,
    force: has('force'),
    port: Number(port),
    files: { env, key },
    // App names are unique on GitHub
    choice: {
      gateOnly: has('gate-only'),
      publicUrl: url,
      name: name ?? (organization && `Bailiwick ${organization}`.slice(0, 34)),
    },
  }
}

function isHttps(text: string): boolean {
  const url = URL.parse(text)
  return url?.protocol === 'https:' && url.username === '' && url.search === '' && url.hash === ''
}

/** What the person who registers the App decides. */
interface ManifestChoice {
  /** Contents are only read. */
  readonly gateOnly: boolean
  /** Where the web process will be reached, without a slash at the end; undefined: as in app.yml. */
  readonly publicUrl: string | undefined
  readonly name: string | undefined
  /** Where GitHub redirects to with the code. */
  readonly redirectUrl: string
}

/** The manifest in GitHub's format, and the address of its web process. */
interface Manifest {
  readonly publicUrl: string
  readonly manifest: Readonly<Record<string, unknown>>
}

const WEBHOOKS = '/api/github/webhooks'
const SIGN_IN = '/login/callback'

/** Builds the manifest from app.yml, with its events and other permissions unchanged. Throws `config`. */
function readManifest(appYml: string, { gateOnly, publicUrl, name, redirectUrl }: ManifestChoice): Manifest {
  const found: unknown = parse(appYml)
  if (!isRecord(found) || typeof found.url !== 'string') throw new BailiwickError('config', 'app.yml has no url')
  const permissions = isRecord(found.default_permissions) ? found.default_permissions : {}
  const root = (publicUrl ?? found.url).replace(/\/+$/, '')
  const host = new URL(root).hostname
  if (host === 'example.com' || host.endsWith('.example.com')) {
    throw new BailiwickError('config', '--url is missing: the address at which GitHub reaches the web process', {
      fix: 'Add it: npm run setup -- --url https://bailiwick.your.domain',
    })
  }
  return {
    publicUrl: root,
    manifest: {
      ...found,
      ...(name === undefined ? {} : { name }),
      default_permissions: { ...permissions, ...(gateOnly ? { contents: 'read' } : {}) },
      url: root,
      hook_attributes: { url: `${root}${WEBHOOKS}`, active: true },
      redirect_url: redirectUrl,
      callback_urls: [`${root}${SIGN_IN}`],
      // anyone who knows its address could install a public App
      public: false,
    },
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Where the settings go. */
interface SettingsFiles {
  readonly env: string
  readonly key: string
  /** Replace existing files. */
  readonly force: boolean
}

/**
 * Creates the folders of the files. Throws `config` if a file exists that must not be replaced, or cannot be written:
 * checked before the request to GitHub, which answers only once.
 */
function prepareFiles(files: SettingsFiles): void {
  assertFree(files)
  for (const path of [files.env, files.key]) {
    try {
      mkdirSync(dirname(path), { recursive: true })
      accessSync(dirname(path), constants.W_OK)
    } catch (cause) {
      const code = (cause as NodeJS.ErrnoException).code ?? String(cause)
      const fix = 'Name a file in a folder that you can write to.'
      throw new BailiwickError('config', `${path} cannot be written (${code})`, { fix, cause })
    }
  }
}

function assertFree({ env, key, force }: SettingsFiles): void {
  const present = [env, key].filter(path => existsSync(path))
  if (force || present.length === 0) return
  throw new BailiwickError('config', `${present.join(' and ')} already exists`, {
    fix: 'Move it, or use --force to replace the App that it belongs to.',
  })
}

/**
 * Writes the key and the settings, readable by their owner only. Other settings in the file stay; no file is left half
 * written. Values must be one line.
 */
function writeSettings(files: SettingsFiles, privateKey: string, settings: Readonly<Record<string, string>>): void {
  assertFree(files)
  const all = { ...settings, PRIVATE_KEY_PATH: resolve(files.key) }
  const kept = existsSync(files.env) ? otherLines(readFileSync(files.env, 'utf8'), Object.keys(all)) : []
  const lines = Object.entries(all).map(([name, value]) => `${name}=${oneLine(name, value)}`)
  replace(files.key, privateKey.endsWith('\n') ? privateKey : `${privateKey}\n`)
  replace(files.env, `${[...kept, ...lines].join('\n')}\n`)
}

function otherLines(text: string, names: readonly string[]): string[] {
  const ours = new RegExp(`^\\s*(?:export\\s+)?(?:${[...names, 'PRIVATE_KEY'].join('|')})\\s*=`)
  return text
    .replace(/\n+$/, '')
    .split('\n')
    .filter(line => !ours.test(line))
}

function oneLine(name: string, value: string): string {
  // a line break, a quote or a # would change what the file means
  if (/^[\x21\x24-\x26\x28-\x5b\x5d-\x5f\x61-\x7e ]*$/.test(value)) return value.includes(' ') ? `"${value}"` : value
  throw new BailiwickError('config', `the value of ${name} cannot be written into a file of settings`)
}

/** Replaces a file atomically, readable by its owner only. */
function replace(path: string, content: string): void {
  const part = `${path}.part`
  rmSync(part, { force: true })
  writeFileSync(part, content, { mode: 0o600, flag: 'wx' })
  renameSync(part, path)
}
