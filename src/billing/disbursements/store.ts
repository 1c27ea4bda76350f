import { sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import type { Database } from '../../platform/database.ts'
import type { Position } from '../../platform/paging.ts'
import { disbursements } from '../../policy/tables/billing.ts'

/** A page of the policyholder's disbursements, oldest first; one more than asked for. */
export const disbursementsQuery = (
  { build }: Database,
  holder: Uuid,
  position: Position<Uuid> | undefined,
  pageSize: number,
) =>
  build
    .select()
    .from(disbursements)
    .where(
      sql`${disbursements.policyholderLocator} = ${holder} and ${
        position
          ? sql`(${disbursements.disbursedAt}, ${disbursements.locator}) > (${position.createdAt}, ${position.locator})`
          : sql`true`
      }`,
    )
    .orderBy(disbursements.disbursedAt, disbursements.locator)
    .limit(pageSize + 1)
