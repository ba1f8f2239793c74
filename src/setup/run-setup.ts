import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { githubApiUrl } from '../config.ts'
import { BailiwickError } from '../errors.ts'
import { convertManifest } from '../github/client/convert-manifest.ts'
import { probably } from '../message/closest.ts'
import { visible } from '../message/visible.ts'
import type { Environment } from '../process/environment.ts'
import { readManifest } from './manifest.ts'
import { type SetupSite, serveSetup } from './serve-setup.ts'
import { webHost } from './web-host.ts'
import { prepareFiles, writeSettings } from './write-settings.ts'

const USAGE =
  'npm run setup -- --url https://bailiwick.your.domain [--organization ORG] [--name NAME] [--env FILE] [--key FILE] [--port N] [--force]'

/** What the setup needs of the process. */
interface SetupIo {
  readonly env: Environment
  readonly say: (line: string) => void
}

/**
 * Registers the App by GitHub's manifest flow: serves a page on this machine, and writes what GitHub answers into a file of
 * settings and a key file. Throws `config` in production, for a file that is there, and `usage`.
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
      })
      const install = `${app.url}/installations/new`
      const steps = [
        `The settings are in ${files.env} and the key is in ${files.key}. Keep both secret.`,
        `1. Install the App on the fleet and on the tenants' repositories: ${install}`,
        `2. Start it on the host of ${publicUrl}: npm start`,
        '3. Read the first report, an issue in your fleet repository. It explains how to require the check.',
        'Bailiwick writes each decision to the branch bailiwick/trail of the fleet repository. TRAIL=off in the settings turns that off.',
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
  const text = { type: 'string' } as const
  const { values } = parse(args, { organization: text, url: text, name: text, env: text, key: text, port: text })
  const { organization, url, name, env = '.env', key = 'bailiwick.private-key.pem', port = '0' } = values
  const wrong = (message: string) => new BailiwickError('usage', message, { fix: `usage: ${USAGE}` })
  if (organization !== undefined && !/^[A-Za-z\d][A-Za-z\d_-]{0,99}$/.test(organization)) {
    throw wrong('--organization is not the name of an organization')
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw wrong('--port is not a port')
  if (name !== undefined && !/^[^\p{C}]{1,34}$/u.test(name)) throw wrong('--name has 1 to 34 characters')
  if (url !== undefined && !isHttps(url)) throw wrong('--url is not an address that begins with https://')
  if (url !== undefined && isExample(new URL(url).hostname)) {
    throw new BailiwickError('usage', `--url: ${JSON.stringify(url)} is an example, which GitHub cannot reach`, {
      fix: 'Use the public https:// address of your web process.',
    })
  }
  return {
    organization,
    force: values.force === true,
    port: Number(port),
    files: { env, key },
    // a name is taken once on all of GitHub
    choice: { publicUrl: url, name: name ?? (organization && `Bailiwick ${organization}`.slice(0, 34)) },
  }
}

type Options = NonNullable<Parameters<typeof parseArgs>[0]>['options']

function parse<T extends NonNullable<Options>>(args: readonly string[], options: T) {
  const names = [...Object.keys(options), 'force'].map(name => `--${name}`)
  const unknown = args.map(arg => arg.split('=', 1)[0] ?? '').find(arg => arg.startsWith('--') && !names.includes(arg))
  if (unknown !== undefined) {
    const meant = probably(unknown, names)
    const fix = meant === undefined ? `usage: ${USAGE}` : `Did you mean ${meant}?`
    const message = `${visible(unknown, 100)} is not an option of setup. Allowed: ${names.join(', ')}`
    throw new BailiwickError('usage', message, { fix })
  }
  try {
    return parseArgs({ args: [...args], strict: true, options: { ...options, force: { type: 'boolean' } } })
  } catch (cause) {
    const message = cause instanceof Error ? (cause.message.split(/[.\n]/, 1)[0] ?? '') : ''
    throw new BailiwickError('usage', message, { fix: `usage: ${USAGE}`, cause })
  }
}

function isHttps(text: string): boolean {
  const url = URL.parse(text)
  return url?.protocol === 'https:' && url.username === '' && url.search === '' && url.hash === ''
}

/** Names that never lead anywhere from outside: RFC 2606, RFC 6761, and the one of our own usage. */
const isExample = (host: string): boolean =>
  /(^|\.)(example(\.(com|net|org))?|test|invalid|localhost|your\.domain|your-domain\.com)\.?$/i.test(host)
