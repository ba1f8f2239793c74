import type { Config } from '../../config.ts'
import type { App } from '../../github/client/app.ts'
import { unlessMissing } from '../../github/client/github-error.ts'
import type { Octokit } from '../../github/client/octokit.ts'
import { listDeliveries } from '../../github/client/open-app-key.ts'
import { listRepositories, readFile } from '../../github/contents/repositories.ts'
import { DESIGNATION_FILE, ORGANIZATION_REPOSITORY, readDesignationMarker } from '../../github/designate.ts'
import { listOurIssues } from '../../github/issues.ts'
import { isLoopbackUrl } from '../../process/environment.ts'
import { isExampleHost, isPrivateHost, webHost } from '../../process/public-host.ts'
import { type Diagnosis, entriesOf } from './diagnosis.ts'

/** How long GitHub lists deliveries. */
const LISTED_MS = 3 * 86_400_000
const WEBHOOKS = '/api/github/webhooks'

/** Whether GitHub can reach PUBLIC_URL, as far as the address itself tells. */
export function diagnosePublicUrl({
  publicUrl,
  githubApiUrl,
}: Pick<Config, 'publicUrl' | 'githubApiUrl'>): Diagnosis[] {
  // a GitHub on this machine reaches what this machine reaches
  if (publicUrl === undefined || isLoopbackUrl(githubApiUrl)) return []
  const host = new URL(publicUrl).hostname
  const { bad } = entriesOf('settings')
  const fix = 'Set PUBLIC_URL to the https address under which GitHub and people reach the web process.'
  if (isExampleHost(host)) return [bad('weak', `PUBLIC_URL is the example ${publicUrl}: its links lead nowhere`, fix)]
  const isPublicGitHub = /(?:^|\.)(?:github\.com|ghe\.com)$/.test(new URL(githubApiUrl).hostname)
  if (!isPublicGitHub || !isPrivateHost(host)) return []
  return [bad('weak', `PUBLIC_URL is ${publicUrl}, which GitHub cannot reach from outside`, fix)]
}

/** Whether the web process takes what GitHub sends, by GitHub's own list of deliveries. `app` is the App's own client. */
export async function diagnoseDeliveries(app: Octokit): Promise<Diagnosis[]> {
  const { ok, bad } = entriesOf('webhooks')
  const [last] = await listDeliveries(app, Date.now() - LISTED_MS, 1)
  if (last === undefined) return [ok('GitHub has sent no webhook in the last three days')]
  if (last.taken) return [ok('the web process took the last webhook')]
  const at = new Date(last.at).toISOString()
  if (last.status === 401) {
    const fix =
      'Write the same secret into WEBHOOK_SECRET and into "Webhook secret" on the settings page of the App, and restart the web process.'
    return [bad('wrong', `the last webhook (${at}) was refused: its signature does not match WEBHOOK_SECRET`, fix)]
  }
  const fix = `Check that the "Webhook URL" of the App ends with ${WEBHOOKS} and leads to the web process, through every proxy.`
  return [bad('wrong', `the last webhook (${at}) failed with the status ${last.status}`, fix)]
}

/** Repositories that settings name as fleets, of which the App has none. `named`: the setting of each. */
export async function diagnoseFleets(
  app: Octokit,
  named: readonly { readonly setting: string; readonly repository: string }[],
  githubApiUrl: string,
): Promise<Diagnosis[]> {
  const found = await Promise.all(
    named.map(async ({ setting, repository }): Promise<Diagnosis[]> => {
      const { bad } = entriesOf('installation')
      const fix = `Correct ${setting}, or install the App on that repository.`
      const [owner = '', repo = '', ...more] = nameOf(repository, githubApiUrl)?.split('/') ?? []
      const isThere =
        repo !== '' &&
        more.length === 0 &&
        (await unlessMissing(app.rest.apps.getRepoInstallation({ owner, repo }))) !== undefined
      return isThere ? [] : [bad('weak', `${setting} names ${repository}, where the App is not installed`, fix)]
    }),
  )
  return found.flat()
}

/** In so many repositories of an account the record of its fleet is searched for; each is a request. */
const MOST_SEARCHED = 100

/** Accounts for which no fleet is designated: not by settings (`named`), the organization, or one of its owners. */
export async function diagnoseDesignations(
  app: App,
  { privateKey, githubApiUrl }: Pick<Config, 'privateKey' | 'githubApiUrl'>,
  named: readonly { readonly repository: string }[],
): Promise<Diagnosis[]> {
  const ours = await app.identity()
  const ownerOf = (repository: string) => nameOf(repository, githubApiUrl)?.split('/')[0]?.toLowerCase()
  const owners = new Set(named.map(({ repository }) => ownerOf(repository)))
  const open = (await app.installations()).filter(({ account }) => !owners.has(account.toLowerCase()))
  const { bad } = entriesOf('installation')
  const fix =
    'Set FLEETS, or have an owner of the organization comment `/bailiwick designate` in the repository of the fleet.'
  const found = open.map(async ({ id, account }): Promise<Diagnosis[]> => {
    const octokit = await app.reader(id)
    const all = await listRepositories(octokit)
    const organization = all.find(({ repo }) => repo.toLowerCase() === ORGANIZATION_REPOSITORY)
    if (organization && (await readFile({ ...organization, octokit }, DESIGNATION_FILE))) return []
    for (const repository of all.slice(0, MOST_SEARCHED)) {
      const issues = (await listOurIssues({ ...repository, octokit, app: ours })) ?? []
      const records = issues.flatMap(({ body }) => readDesignationMarker(body, privateKey) ?? [])
      if (records.some(one => one.state === 'designated' && one.installation === id && one.at === repository.id))
        return []
    }
    if (all.length <= MOST_SEARCHED) return [bad('weak', `no fleet is designated for ${account}`, fix)]
    return [bad('unknown', `no fleet is designated in the first ${MOST_SEARCHED} repositories of ${account}`, fix)]
  })
  return (await Promise.all(found)).flat()
}

/** `owner/name` of a repository on this GitHub; undefined on any other. */
function nameOf(repository: string, githubApiUrl: string): string | undefined {
  if (!repository.startsWith('https://')) return repository
  const { origin, pathname } = new URL(repository)
  // a rehearsal: the repositories of a GitHub on this machine have addresses of the real one
  return origin === webHost(githubApiUrl) || isLoopbackUrl(githubApiUrl) ? pathname.slice(1) : undefined
}
