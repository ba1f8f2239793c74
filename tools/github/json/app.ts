import type { App, Installation, World } from '../world.ts'
import { nodeId } from './node-id.ts'
import { userJson } from './user.ts'

/** OpenAPI `integration`. */
export function appJson(world: World, app: App) {
  return {
    id: app.id,
    slug: app.slug,
    client_id: app.clientId,
    node_id: nodeId('A', app.id),
    owner: userJson(world, app.owner),
    name: app.name,
    description: null,
    external_url: app.externalUrl,
    html_url: `https://github.com/apps/${app.slug}`,
    created_at: app.createdAt,
    updated_at: app.createdAt,
    permissions: app.permissions,
    events: app.events,
  }
}

/** OpenAPI `installation`. */
export function installationJson(world: World, installation: Installation) {
  const { app, account } = installation
  const url = `${world.url}/app/installations/${installation.id}`
  return {
    id: installation.id,
    client_id: app.clientId,
    account: userJson(world, account),
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    repository_selection: installation.repositories === 'all' ? 'all' : 'selected',
    access_tokens_url: `${url}/access_tokens`,
    repositories_url: `${world.url}/installation/repositories`,
    html_url: `https://github.com/organizations/${account.login}/settings/installations/${installation.id}`,
    permissions: installation.permissions,
    events: installation.events,
    created_at: installation.createdAt,
    updated_at: installation.createdAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: installation.suspended ? userJson(world, installation.suspended.by) : null,
    suspended_at: installation.suspended?.at ?? null,
  }
}
