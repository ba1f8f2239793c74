import { normaliseUrl } from '../../kube/url.ts'
import { isServedByGithub } from './is-git-base.ts'

/** What an address names that cannot change: a file or a directory of a repository at a commit. */
export interface PinnedAddress {
  /** Normalised by normaliseUrl. */
  readonly url: string
  /** 40 hex digits. */
  readonly commit: string
  readonly type: 'file' | 'directory'
  /** Relative to the root of the repository. */
  readonly path: string
}

const REPOSITORY = '([A-Za-z0-9-]+/[A-Za-z0-9._-]+?)(?:\\.git)?'
const COMMIT = '([0-9a-f]{40})'
const PATH = '([A-Za-z0-9._@+-]+(?:/[A-Za-z0-9._@+-]+)*)'

const FILES = [
  new RegExp(`^https://raw\\.githubusercontent\\.com/${REPOSITORY}/${COMMIT}/${PATH}$`),
  new RegExp(`^https://github\\.com/${REPOSITORY}/raw/${COMMIT}/${PATH}$`),
]

/** As kustomize cuts it (api/internal/git/repospec.go): at `//`, behind `.git`, or behind owner and repository. */
const DIRECTORY = new RegExp(
  `^(?:https://)?github\\.com/${REPOSITORY}(?://?${PATH}?)?/?\\?(?:ref|version)=${COMMIT}(?:&(?:timeout|submodules)=[a-z0-9]*)*$`,
)

/**
 * What an entry of `resources` or `components` names on GitHub at a commit; undefined for any other address. Of other
 * hosts kustomize may take for a file what here is a repository.
 */
export function pinnedAddress(text: string): PinnedAddress | undefined {
  // nearly every entry is a path
  if (text.length > 2000 || !text.includes('github')) return undefined
  for (const pattern of FILES) {
    const [, repository = '', commit = '', path = ''] = pattern.exec(text) ?? []
    if (path !== '') return pinned('file', repository, commit, path)
  }
  const [, repository = '', path = '', commit = ''] = DIRECTORY.exec(text) ?? []
  // of .../raw/main/x.yaml?ref=<commit> kustomize takes the file that GitHub serves
  if (commit === '' || isServedByGithub(path.split('/')[0]!)) return undefined
  return pinned('directory', repository, commit, path)
}

function pinned(type: PinnedAddress['type'], repository: string, commit: string, path: string) {
  if (path.split('/').some(part => part === '.' || part === '..')) return undefined
  return { url: normaliseUrl(`https://github.com/${repository}`), commit, type, path }
}
