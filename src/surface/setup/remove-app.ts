import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { BailiwickError } from '../../base/errors.ts'
import { visible } from '../../base/visible.ts'
import { readConfig } from '../../config.ts'
import { openApp } from '../../github/client/app.ts'
import { listTraces } from '../../github/traces.ts'
import type { Environment } from '../../process/environment.ts'
import { readSettings } from '../../process/settings.ts'

interface RemoveIo {
  readonly env: Environment
  readonly say: (line: string) => void
  /** Pauses between writes to GitHub; set by tests only. */
  readonly pace?: Parameters<typeof openApp>[0]['pace']
}

/**
 * Lists what the App left in the repositories of its installations, and with `yes` removes it and then the installations. An
 * installation stays where something could not be removed. Returns how much is left. Throws `config`.
 */
export async function removeApp(file: string, yes: boolean, { env, say, pace }: RemoveIo): Promise<number> {
  if (!existsSync(file) && env.APP_ID === undefined) {
    const fix = 'Run it in the folder of that file, or name the file with --env FILE.'
    throw new BailiwickError('config', `${visible(file)} does not exist, so the App is unknown`, { fix })
  }
  const own = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {}
  const { appId, privateKey, githubApiUrl: baseUrl } = readSettings({ ...own, ...env }, one => readConfig(one))
  const app = openApp({ appId, privateKey, baseUrl, pace })
  const { slug } = await app.identity()
  let left = 0
  for (const { id, account } of await app.installations()) {
    const octokit = await app.client(id)
    const before = left
    const repositories = await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, { per_page: 100 })
    for (const { owner, name: repo, archived } of repositories) {
      // GitHub refuses every change of it
      if (archived) say(visible(`not looked at: ${owner.login}/${repo} is archived`, 500))
      const traces = archived ? [] : await listTraces({ octokit, owner: owner.login, repo }, slug)
      for (const { what, byHand, remove } of traces) {
        const problem = yes ? await remove().then(() => undefined, refusal) : 'not removed yet'
        say(
          visible(
            problem === undefined ? `removed: ${what}` : `left: ${what} (${problem}). To remove it: ${byHand}.`,
            500,
          ),
        )
        if (problem !== undefined) left++
      }
    }
    if (yes && left === before) {
      await app.own().rest.apps.deleteInstallation({ installation_id: id })
      say(`removed: the installation of ${account}`)
    } else say(`left: the installation of ${account}`)
  }
  return left
}

function refusal(error: unknown): string {
  if (error instanceof BailiwickError) return error.message
  throw error
}
