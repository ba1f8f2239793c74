import { randomBytes } from 'node:crypto'
import { commitNamed } from '../actions/resolve.ts'
import { archive } from '../git/archive.ts'
import { notFound } from '../http/http-error.ts'
import { onRepository, type Reply, type RepositoryCall, type Route } from '../http/route.ts'
import { fullName, type Repository } from '../world.ts'

const FIVE_MINUTES = 300_000

/** tarball: a redirect to a place where the archive lies for a while, without authentication, as at codeload. */
export function tarballRoutes(): Route[] {
  const places = new Map<string, { repository: Repository; sha: string; expires: number }>()

  function redirect(call: RepositoryCall, ref: string): Reply {
    const { sha } = commitNamed(call.repo, ref)
    const token = randomBytes(16).toString('hex')
    places.set(token, { repository: call.repo, sha, expires: Date.now() + FIVE_MINUTES })
    const location = `${call.world.url}/_codeload/${fullName(call.repo)}/legacy.tar.gz/${sha}?token=${token}`
    return { status: 302, headers: { location } }
  }

  return [
    onRepository('GET', '/tarball/{ref}', 'contents:read', 'read', call => redirect(call, call.params.ref ?? '')),
    {
      scope: 'anyone',
      method: 'GET',
      path: '/_codeload/{owner}/{repo}/legacy.tar.gz/{ref}',
      handle: call => {
        const place = places.get(call.query.get('token') ?? '')
        if (!place || place.expires < Date.now()) throw notFound()
        const { repository, sha } = place
        const top = `${repository.owner.login}-${repository.name}-${sha.slice(0, 7)}`
        const headers = {
          'content-type': 'application/x-gzip',
          'content-disposition': `attachment; filename=${top}.tar.gz`,
        }
        return { status: 200, body: archive(repository.store, sha, top), headers }
      },
    },
  ]
}
