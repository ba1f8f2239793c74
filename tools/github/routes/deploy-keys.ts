import { flag, requiredText, text } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, noContent, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import type { DeployKey } from '../world.ts'

const ONE = '/keys/{key_id}'

/** deploy keys, and the keys of the SSH server itself. */
export function deployKeyRoutes(): Route[] {
  return [
    onRepository('GET', '/keys', 'administration:read', 'admin', call => list(call, call.repo.deployKeys, json)),
    onRepository('POST', '/keys', 'administration:write', 'admin', call => created(json(add(call)))),
    onRepository('GET', ONE, 'administration:read', 'admin', call => ok(json(named(call)))),
    onRepository('DELETE', ONE, 'administration:write', 'admin', call => {
      call.repo.deployKeys.splice(call.repo.deployKeys.indexOf(named(call)), 1)
      return noContent()
    }),
    { scope: 'anyone', method: 'GET', path: '/meta', handle: () => ok({ ...META, ssh_keys: HOST_KEYS }) },
  ]
}

const META = { verifiable_password_authentication: false }
/** Of no host. */
const HOST_KEYS = [
  `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'A'.repeat(42)}B`,
  `ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTY${'A'.repeat(40)}=`,
]

function add(call: RepositoryCall): DeployKey {
  const { world, repo, body } = call
  const [type = '', data = ''] = requiredText(body, 'key').split(' ')
  const key = `${type} ${data}`
  if (!/^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-\S+) [A-Za-z0-9+/]+={0,2}$/.test(key)) {
    throw invalid('key is invalid. You must supply a key in OpenSSH public key format')
  }
  if (world.noDeployKeys.has(repo.owner.login)) throw invalid('Deploy keys are disabled for this repository')
  const all = [...world.repositories.values()].flatMap(one => one.deployKeys)
  if (all.some(one => one.key === key)) throw invalid('key is already in use')
  const made: DeployKey = {
    ...{ id: world.nextId(), key, title: text(body, 'title') ?? '', readOnly: flag(body, 'read_only') ?? false },
    ...{ createdAt: new Date().toISOString(), lastUsed: null },
  }
  repo.deployKeys.push(made)
  return made
}

const invalid = (message: string) =>
  new HttpError(422, 'Validation Failed', [{ resource: 'PublicKey', field: 'key', code: 'custom', message }])

function named(call: RepositoryCall): DeployKey {
  const found = call.repo.deployKeys.find(({ id }) => String(id) === call.params.key_id)
  if (!found) throw notFound()
  return found
}

const json = ({ id, key, title, readOnly, createdAt, lastUsed }: DeployKey) => ({
  ...{ id, key, title, verified: true, read_only: readOnly, enabled: true },
  ...{ url: `https://api.github.com/keys/${id}`, created_at: createdAt, last_used: lastUsed },
})
