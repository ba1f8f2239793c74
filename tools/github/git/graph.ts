import type { Commit, ObjectStore } from './store.ts'

/** Commits reachable from `tip`, itself included. */
function ancestors(store: ObjectStore, tip: string): Set<string> {
  const seen = new Set<string>()
  const open = [tip]
  for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
    if (seen.has(sha)) continue
    seen.add(sha)
    open.push(...(store.commit(sha)?.parents ?? []))
  }
  return seen
}

export function isAncestor(store: ObjectStore, old: string, young: string): boolean {
  return ancestors(store, young).has(old)
}

/** A best common ancestor: one that no other common ancestor descends from. Undefined for unrelated histories. */
export function mergeBase(store: ObjectStore, a: string, b: string): string | undefined {
  const ofA = ancestors(store, a)
  const common = [...ancestors(store, b)].filter(sha => ofA.has(sha))
  const reachable = new Set<string>()
  for (const sha of common) {
    for (const parent of store.commit(sha)?.parents ?? []) reachable.add(parent)
  }
  // history is closed under parents, so "no common child" means "no common descendant"
  return common.find(sha => !reachable.has(sha))
}

/** Commits of `tip` that `without` does not reach, newest first, a child always before its parents. */
export function log(store: ObjectStore, tip: string, without?: string): Commit[] {
  const hidden = without === undefined ? new Set<string>() : ancestors(store, without)
  const shown = new Map<string, Commit>()
  for (const sha of ancestors(store, tip)) {
    const commit = store.commit(sha)
    if (commit && !hidden.has(sha)) shown.set(sha, commit)
  }
  const children = new Map<string, number>([...shown.keys()].map(sha => [sha, 0]))
  const bump = (sha: string, by: number) => {
    const count = children.get(sha)
    if (count !== undefined) children.set(sha, count + by)
    return count
  }
  for (const commit of shown.values()) for (const parent of commit.parents) bump(parent, 1)
  const ordered: Commit[] = []
  const ready = [...shown.values()].filter(commit => children.get(commit.sha) === 0)
  for (let commit = takeNewest(ready); commit; commit = takeNewest(ready)) {
    ordered.push(commit)
    for (const parent of commit.parents) {
      if (bump(parent, -1) === 1) ready.push(shown.get(parent)!)
    }
  }
  return ordered
}

function takeNewest(ready: Commit[]): Commit | undefined {
  let newest = 0
  for (const [index, commit] of ready.entries()) {
    if (commit.committer.date > ready[newest]!.committer.date) newest = index
  }
  return ready.splice(newest, 1)[0]
}
