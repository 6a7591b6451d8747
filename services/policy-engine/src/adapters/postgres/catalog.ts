import { Inject, Injectable } from '@nestjs/common';
import type { ToolTraits } from '@lineclear/contracts';
import { DATA_SOURCE } from '@lineclear/host';
import { DataSource } from 'typeorm';
import type { CatalogTool } from '../../domain/catalog-warnings.js';
import { POLICY_SET_NAME } from '../../domain/policy-set-name.js';

/** Reads of the catalog and of the set in force for HTTP. */
@Injectable()
export class Catalog {
  constructor(@Inject(DATA_SOURCE) private readonly dataSource: DataSource) {}

  /** Every tool that is known now. */
  async tools(): Promise<CatalogTool[]> {
    const rows = await this.dataSource.query<{ name: string; traits: string; schema: string }[]>(
      'SELECT name, traits, schema FROM catalog_tool ORDER BY name',
    );
    return rows.map(({ name, traits, schema }) => ({
      name,
      traits: JSON.parse(traits) as ToolTraits,
      schema: JSON.parse(schema) as CatalogTool['schema'],
    }));
  }

  /** The set in force: its version and files, as stored. Undefined before the first activation. */
  async activeSet(): Promise<{ readonly version: number; readonly files: string } | undefined> {
    const rows = await this.dataSource.query<{ version: number; files: string }[]>(
      'SELECT version, files FROM policy_set WHERE name = $1',
      [POLICY_SET_NAME],
    );
    return rows[0];
  }
}
