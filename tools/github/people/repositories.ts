import type { RepositoryOptions } from '../accounts.ts'
import { selectRepositories, suspend } from '../actions/installation.ts'
import * as action from '../actions/repository.ts'
import type { Installation, Repository, User, World } from '../world.ts'
import type { Directory } from './directory.ts'

interface As {
  /** Default the owner. */
  readonly as?: string
}

/** What owners do with repositories, and with the apps that they installed. Nobody's role is asked for here. */
export function onRepositories(world: World, { userNamed, repositoryNamed, addRepository }: Directory) {
  const by = (owner: User, { as }: As) => (as === undefined ? owner : userNamed(as))

  /** Makes a repository while apps listen; `addRepository` makes one in silence. */
  function createRepository(options: RepositoryOptions, as: As = {}): Repository {
    const made = addRepository(options)
    action.announceRepository(world, made, by(made.owner, as))
    return made
  }

  /** Does something with a repository as its owner, or as who is named. */
  function owner<T extends unknown[]>(act: (world: World, repository: Repository, ...rest: [...T, User]) => void) {
    return (repo: string, ...rest: [...T, As?]): void => {
      const repository = repositoryNamed(repo)
      const last = rest.at(-1)
      const as = typeof last === 'object' && last !== null ? (last as As) : {}
      const given = (typeof last === 'object' && last !== null ? rest.slice(0, -1) : rest) as unknown as T
      act(world, repository, ...given, by(repository.owner, as))
    }
  }

  function transfer(repo: string, to: string, as: As = {}): void {
    const repository = repositoryNamed(repo)
    action.transferRepository(world, repository, userNamed(to), by(repository.owner, as))
  }

  const select = (installation: Installation, repos: 'all' | readonly string[], as: As = {}) => {
    const wanted = repos === 'all' ? 'all' : repos.map(repositoryNamed)
    selectRepositories(world, installation, wanted, by(installation.account, as))
  }

  return {
    createRepository,
    rename: owner(action.renameRepository),
    transfer,
    archive: owner((_, repository, user: User) => action.archiveRepository(world, repository, true, user)),
    unarchive: owner((_, repository, user: User) => action.archiveRepository(world, repository, false, user)),
    deleteRepository: owner(action.deleteRepository),
    makePublic: owner((_, repository, user: User) => action.publishRepository(world, repository, false, user)),
    makePrivate: owner((_, repository, user: User) => action.publishRepository(world, repository, true, user)),
    setDefaultBranch: owner(action.switchDefaultBranch),
    /** Gives an installation these repositories (`owner/name`) and no other, or all. */
    selectRepositories: select,
    suspend: (installation: Installation, as: As = {}) =>
      suspend(world, installation, by(installation.account, as), true),
    unsuspend: (installation: Installation, as: As = {}) =>
      suspend(world, installation, by(installation.account, as), false),
  }
}
