import { installationJson } from '../json/app.ts'
import { repositoryJson } from '../json/repository.ts'
import { fullName, type Installation, now, type Repository, type User, type World } from '../world.ts'

/** What apps are told of a repository that they got or lost. */
function briefRepository(world: World, repository: Repository) {
  const { id, name, private: isPrivate } = repository
  const { node_id } = repositoryJson(world, repository)
  return { id, node_id, name, full_name: fullName(repository), private: isPrivate }
}

/** `installation_repositories`: which repositories an app got and lost. */
export function announceSelection(
  world: World,
  installation: Installation,
  { added, removed }: { readonly added: readonly Repository[]; readonly removed: readonly Repository[] },
  by: User,
): void {
  const what = [
    ['added', added],
    ['removed', removed],
  ] as const
  for (const [action, repositories] of what) {
    if (repositories.length === 0) continue
    const brief = repositories.map(repository => briefRepository(world, repository))
    world.emitToInstallation(installation, by, 'installation_repositories', {
      ...{ action, installation: installationJson(world, installation), requester: null },
      repository_selection: installation.repositories === 'all' ? 'all' : 'selected',
      ...{
        repositories_added: action === 'added' ? brief : [],
        repositories_removed: action === 'removed' ? brief : [],
      },
    })
  }
}

/** Gives an app other repositories of the account: all, or these. Says what came and what went. */
export function selectRepositories(
  world: World,
  installation: Installation,
  wanted: 'all' | readonly Repository[],
  by: User,
): void {
  const before = repositoriesOf(world, installation)
  installation.repositories = wanted === 'all' ? 'all' : new Set(wanted.map(repository => repository.id))
  const after = repositoriesOf(world, installation)
  const added = after.filter(repository => !before.includes(repository))
  const removed = before.filter(repository => !after.includes(repository))
  announceSelection(world, installation, { added, removed }, by)
}

/** Suspends an installation, or ends that. Its tokens are refused and no event comes while it is. */
export function suspend(world: World, installation: Installation, by: User, isSuspended: boolean): void {
  if ((installation.suspended !== undefined) === isSuspended) return
  installation.suspended = isSuspended ? { by, at: now() } : undefined
  announceInstallation(world, installation, isSuspended ? 'suspend' : 'unsuspend', by)
}

/** `installation`, with its repositories where GitHub lists them. */
export function announceInstallation(world: World, installation: Installation, action: string, by: User): void {
  const lists = action === 'created' || action === 'deleted'
  const repositories = repositoriesOf(world, installation).map(each => briefRepository(world, each))
  world.emitToInstallation(installation, by, 'installation', {
    ...{ action, installation: installationJson(world, installation), requester: null },
    ...(lists ? { repositories } : {}),
  })
}

function repositoriesOf(world: World, { account, repositories }: Installation): Repository[] {
  return [...world.repositories.values()].filter(
    each => each.owner === account && (repositories === 'all' || repositories.has(each.id)),
  )
}
