import type { Deliveries, Delivery } from '../events/deliveries.ts'
import { notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { type Call, ok, type Route } from '../http/route.ts'

/** app/hook/deliveries: what was sent to the app, and sending it again. */
export function hookRoutes(deliveries: Deliveries): Route[] {
  const path = '/app/hook/deliveries'
  const ofApp = (call: Call) => {
    const slug = call.actor.kind === 'app' ? call.actor.app.slug : undefined
    return deliveries.log.filter(delivery => delivery.app === slug)
  }
  const named = (call: Call) => {
    const found = ofApp(call).find(delivery => String(delivery.id) === call.params.delivery_id)
    if (!found) throw notFound()
    return found
  }
  return [
    { scope: 'app', method: 'GET', path, handle: call => list(call, ofApp(call).reverse(), deliveryJson) },
    {
      scope: 'app',
      method: 'GET',
      path: `${path}/{delivery_id}`,
      handle: call => {
        const delivery = named(call)
        const request = { headers: {}, payload: delivery.payload }
        return ok({ ...deliveryJson(delivery), url: '', request, response: { headers: {}, payload: '' } })
      },
    },
    {
      scope: 'app',
      method: 'POST',
      path: `${path}/{delivery_id}/attempts`,
      handle: call => {
        const delivery = named(call)
        const app = call.actor.kind === 'app' ? call.actor.app : undefined
        if (app) deliveries.send(app, delivery.event, { ...delivery.payload }, delivery)
        return { status: 202, body: {} }
      },
    },
  ]
}

function deliveryJson(delivery: Delivery) {
  const { id, guid, redelivery, event, payload } = delivery
  const code = delivery.status ?? 0
  const status = code === 0 ? 'timed out' : code < 400 ? 'OK' : `Invalid HTTP Response: ${code}`
  const installation = payload.installation as { id: number } | undefined
  const repository = payload.repository as { id: number } | undefined
  return {
    ...{ id, guid, delivered_at: delivery.at, redelivery, duration: delivery.durationMs / 1000, status },
    ...{ status_code: code, event, action: delivery.action ?? null, throttled_at: null },
    ...{ installation_id: installation?.id ?? null, repository_id: repository?.id ?? null },
  }
}
