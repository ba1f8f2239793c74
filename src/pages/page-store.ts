import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { CheckPage } from '../report/page/check-page.ts'
import type { FleetPage } from '../report/page/fleet-page.ts'
import type { PageEntry } from '../report/page/home-page.ts'
import { withoutLogins } from '../report/without-logins.ts'
import type { Shelf } from './shelf.ts'

/** Changes with the form of what is kept: pages of an older program are not read by a newer one. */
const FORM = 1
/** One page as it is stored; what is larger is not kept. */
const MAX_BYTES = 2 * 1024 * 1024
const MAX_TEXT = 32 * 1024 * 1024
const MAX_LISTED = 300

/** A week: longer than most pull requests wait, and Re-evaluate makes a new one. */
export const PAGE_LIMITS = { ttlMs: 7 * 86_400_000, maxBytes: 256 * 1024 * 1024 }

type Page = CheckPage | FleetPage

/** Keeps what pages show, for a while: one per commit, one per fleet. */
export class PageStore {
  readonly #shelf: Shelf

  constructor(shelf: Shelf) {
    this.#shelf = shelf
  }

  /** Answers false for a page that is too large to be kept. */
  async keep(page: Page): Promise<boolean> {
    const bytes = await promisify(gzip)(withoutLogins(JSON.stringify(page)))
    if (bytes.length > MAX_BYTES) return false
    await this.#shelf.put(keyOf(page), bytes, withoutLogins(JSON.stringify(entryOf(page))))
    return true
  }

  async check(owner: string, repo: string, headSha: string): Promise<CheckPage | undefined> {
    return (await this.#read(keyOf({ kind: 'check', owner, repo, headSha }))) as CheckPage | undefined
  }

  async fleet(owner: string, repo: string): Promise<FleetPage | undefined> {
    return (await this.#read(keyOf({ kind: 'fleet', owner, repo }))) as FleetPage | undefined
  }

  /** What there is, the newest first. */
  async list(): Promise<readonly PageEntry[]> {
    const notes = await this.#shelf.notes(MAX_LISTED)
    return notes.filter(({ key }) => key.startsWith(`${FORM} `)).map(({ note }) => JSON.parse(note))
  }

  close(): Promise<void> {
    return this.#shelf.close()
  }

  async #read(key: string): Promise<Page | undefined> {
    const bytes = await this.#shelf.get(key)
    if (!bytes) return undefined
    return JSON.parse((await promisify(gunzip)(bytes, { maxOutputLength: MAX_TEXT })).toString('utf8'))
  }
}

type Key = Pick<CheckPage, 'kind' | 'owner' | 'repo' | 'headSha'> | Pick<FleetPage, 'kind' | 'owner' | 'repo'>

/** GitHub's names ignore case. */
function keyOf(page: Key): string {
  const name = `${page.owner}/${page.repo}`.toLowerCase()
  return page.kind === 'check' ? `${FORM} check ${name} ${page.headSha}` : `${FORM} fleet ${name}`
}

function entryOf(page: Page): PageEntry {
  const { kind, owner, repo, at, repositoryId } = page
  const place = { kind, owner, repo, at, ...(repositoryId === undefined ? {} : { repositoryId }) }
  if (page.kind === 'fleet') return place
  return { ...place, sha: page.headSha, title: page.title.slice(0, 200), conclusion: page.conclusion }
}
