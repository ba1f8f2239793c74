import type { Json } from '../kube/node.ts'
import { isActiveController, refuseActiveController } from './active-controller.ts'
import type { ApiResource, ClusterClient } from './client.ts'
import { stringAt } from './json-at.ts'
import { watchKind } from './watch-kind.ts'

const DEPLOYMENTS: ApiResource = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespaced: true }

/**
 * Looks for another controller before anything is written. A watch knows of those that are called otherwise, so that not
 * every Deployment is read each time; as long as the watch is not on, or must not be, all of them are.
 */
export class ControllerWatch {
  readonly #client: ClusterClient
  readonly #abort = new AbortController()
  /** Places of active controllers by uid; undefined: unknown at the moment. */
  #active: Map<string, string> | undefined
  #running: Promise<void> | undefined

  constructor(client: ClusterClient) {
    this.#client = client
  }

  /** Throws as refuseActiveController. */
  async refuse(): Promise<void> {
    await refuseActiveController(this.#client, { watched: this.#active?.values() })
    this.#running ??= this.#follow()
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#running
  }

  async #follow(): Promise<void> {
    const { signal } = this.#abort
    const watcher = {
      listed: (objects: readonly Json[]) => {
        this.#active = new Map(objects.map(object => [stringAt(object, 'metadata', 'uid'), placeOf(object)]))
      },
      changed: (object: Json, gone: boolean) => {
        const uid = stringAt(object, 'metadata', 'uid')
        if (!gone && isActiveController(object)) this.#active?.set(uid, placeOf(object))
        else this.#active?.delete(uid)
      },
      interrupted: () => {
        this.#active = undefined
      },
    }
    try {
      await watchKind(this.#client, DEPLOYMENTS, watcher, signal, { whole: isActiveController })
    } catch {
      // it must not be watched: all Deployments are read each time
    }
    this.#active = undefined
  }
}

function placeOf(object: Json): string {
  return `${stringAt(object, 'metadata', 'namespace')}/${stringAt(object, 'metadata', 'name')}`
}
