import type { Deliveries, Delivery } from '../events/deliveries.ts'
import { cursorPage } from '../http/cursor-page.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { type Call, type GlobalRoute, ok, type Route } from '../http/route.ts'
import type { App } from '../world.ts'

const PATH = '/app/hook/deliveries'
/** GitHub keeps them no longer (docs, "Viewing webhook deliveries"). */
const THREE_DAYS = 3 * 86_400_000

/** app/hook: where the app hears events, what was sent to it, and sending it again. */
export function hookRoutes(deliveries: Deliveries): Route[] {
  /** Those that were attempted, the newest first. */
  function attempts(call: Call): Delivery[] {
    const { slug } = caller(call)
    return deliveries.log
      .filter(each => each.app === slug && each.status !== undefined && Date.parse(each.at) > Date.now() - THREE_DAYS)
      .reverse()
  }

  function named(call: Call): Delivery {
    const found = attempts(call).find(delivery => String(delivery.id) === call.params.delivery_id)
    if (!found) throw notFound()
    return found
  }

  function redeliver(call: Call) {
    const delivery = named(call)
    if (!caller(call).webhookUrl) throw new HttpError(422, 'The app has no active webhook')
    deliveries.send(caller(call), delivery.event, { ...delivery.payload }, delivery)
    return { status: 202, body: {} }
  }

  return [
    asApp('GET', '/app/hook/config', call => {
      const url = caller(call).webhookUrl
      return ok({ content_type: 'json', insecure_ssl: '0', secret: '********', ...(url === undefined ? {} : { url }) })
    }),
    asApp('GET', PATH, call => {
      const wanted = call.query.get('status')
      const shown = attempts(call).filter(each => wanted === null || (wanted === 'success') === succeeded(each))
      return cursorPage(call, shown, deliveryJson, { after: 'cursor' })
    }),
    asApp('GET', `${PATH}/{delivery_id}`, call => {
      const delivery = named(call)
      const { answer, headers, payload, url } = delivery
      const response = { headers: answer.headers, payload: answer.body }
      return ok({ ...deliveryJson(delivery), url, request: { headers, payload }, response })
    }),
    asApp('POST', `${PATH}/{delivery_id}/attempts`, redeliver),
  ]
}

function asApp(method: string, path: string, handle: GlobalRoute['handle']): GlobalRoute {
  return { scope: 'app', method, path, handle }
}

function caller(call: Call): App {
  if (call.actor.kind !== 'app') throw new HttpError(401, 'A JSON web token could not be decoded')
  return call.actor.app
}

const succeeded = ({ status = 0 }: Delivery) => status >= 200 && status < 300

function deliveryJson(delivery: Delivery) {
  const { id, guid, redelivery, event, payload } = delivery
  const installation = payload.installation as { id: number } | undefined
  const repository = payload.repository as { id: number } | undefined
  return {
    ...{ id, guid, delivered_at: delivery.at, redelivery, duration: Math.round(delivery.durationMs) / 1000 },
    ...{ status: delivery.outcome, status_code: delivery.status ?? 0, event, action: delivery.action ?? null },
    ...{ installation_id: installation?.id ?? null, repository_id: repository?.id ?? null, throttled_at: null },
  }
}
